"""Checks what coda-fuse-pipeline made of a graph: `check_fused.py LAUNCHES` reads
the module on standard input and fails unless @main has exactly that many calls
of kernels and, besides them, views, empty tensors, extents, constants and
assertions only. With `--rest`, other ops may stay; their names are printed.
"""

import re
import sys

ALLOWED = {
    "tensor.expand_shape",
    "tensor.collapse_shape",
    "tensor.extract_slice",
    "tensor.empty",
    "tensor.dim",
    "arith.constant",
    "cf.assert",
    "call",
    "return",
}


def main_body(text):
    start = re.search(r"^  func\.func @main\(.*\{$", text, re.M)
    if not start:
        sys.exit("check_fused.py: no func @main")
    body = text[start.end() :]
    return body[: body.index("\n  }")].splitlines()


def op_names(lines):
    for line in lines:
        # Ops of @main itself, not of nested regions, are indented by four.
        match = re.match(r"    (?:%[\w:, %#]+ = )?([a-z_]+(?:\.[a-z_]+)*)\b", line)
        if match:
            yield match.group(1)


def main():
    text = sys.stdin.read()
    names = list(op_names(main_body(text)))
    kernels = re.findall(r"func\.func private @(\w+)\(.*attributes \{coda\.kernel", text)
    calls = re.findall(r"call @(\w+)\(", "\n".join(main_body(text)))
    wrong = [c for c in calls if c not in kernels]
    rest = sorted(set(names) - ALLOWED)
    launches = int(sys.argv[1])
    print(f"launches: {len(calls)}; rest: {' '.join(rest) or 'none'}")
    if wrong:
        sys.exit(f"calls of functions that are no kernels: {wrong}")
    if len(calls) != launches:
        sys.exit(f"expected {launches} launches")
    if rest and "--rest" not in sys.argv:
        sys.exit("ops are left that are no launches")


if __name__ == "__main__":
    main()
