"""Makes of a graph of test/Graphs of 2 x 64 tokens, or 1 x 48, one of 1 x T, as the
front end would for such shapes: `with_tokens.py GRAPH T`, on standard output.
"""

import re
import sys


def main():
    text = open(sys.argv[1]).read()
    new = sys.argv[2]
    batch, tokens = (2, 64) if "tensor<2x64x" in text else (1, 48)
    rows = batch * tokens
    for pattern, shape in [
        # (batch, token, ...), (batch, head, token, ...), both as one dim.
        (rf"tensor<{batch}x{tokens}([x>])", rf"tensor<1x{new}\1"),
        (rf"tensor<{batch}x(\d+)x{tokens}x", rf"tensor<1x\1x{new}x"),
        (rf"tensor<{rows}x", f"tensor<{new}x"),
        # The same as extents of reshapes and slices.
        (rf"\[{batch}, {tokens}([],])", rf"[1, {new}\1"),
        (rf"\[{batch}, (\d+), {tokens}, ", rf"[1, \1, {new}, "),
        (rf"\[{rows}, ", f"[{new}, "),
        (rf"\[1, {rows}, ", f"[1, {new}, "),
        (rf"tensor<1x{rows}x", f"tensor<1x{new}x"),
    ]:
        text = re.sub(pattern, shape, text)
    print(text, end="")


if __name__ == "__main__":
    main()
