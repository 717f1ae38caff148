"""Shows what coda-fuse-pipeline made of a graph.

usage: show_fusion.py BEFORE.mlir FUSED.mlir

Prints the linear algebra ops of the graph, each kernel launch of the fused
program with what its kernel computes, and what else is left in `main`.
"""
import collections
import re
import sys


def functions(text):
    """{name: body} of the functions of a module as it is printed, or without the
    line `module {`."""
    found = {}
    function = r"^( *)func\.func [^\n]*?@([\w$.-]+)\((?:(?!\n *func\.func ).)*?^\1\}$"
    for match in re.finditer(function, text, re.M | re.S):
        found[match.group(2)] = match.group(0)
    return found


def op_counts(body):
    """Counter of the operation names in a function, terminators aside."""
    names = re.findall(r"^\s+(?:%[\w:, #%]+ = )?([a-z_]+\.[\w.]+)(?![\w.:])", body, re.M)
    return collections.Counter(n for n in names if not n.endswith(("yield", "func.func")))


def counted(counts):
    return ", ".join("%d %s" % (n, name) for name, n in sorted(counts.items())) or "nothing"


def grouped(text, keyword):
    """What stands in the parentheses of each `keyword(...)`, types cut off."""
    for found in re.finditer(keyword + r"\(([^:]*?) :", text):
        yield found.group(1)


def plural(count, what):
    return "%d %s%s" % (count, what, "" if count == 1 else "s")


def describe(body):
    """What one kernel does, from its text."""
    counts = op_counts(body)
    outs = [part for group in grouped(body, "outs")
            for part in re.findall(r"((?:[a-z]+ )*)%[\w#]+\[", group)]
    reductions = collections.Counter(part.split()[-1] for part in outs if part.split())
    accumulators = sum(1 + group.count("], %") for group in grouped(body, "acc"))
    parts = [plural(counts[op], op.split(".")[1]) for op in ("coda.gemm", "coda.map") if counts[op]]
    parts.append(plural(accumulators, "accumulator"))
    parts.append(plural(len(outs) - sum(reductions.values()), "store"))
    parts += [plural(n, name + " reduction") for name, n in sorted(reductions.items())]
    scalars = sum(n for name, n in counts.items() if name.startswith(("arith.", "math.")))
    parts.append("%d scalar ops in the epilogue" % scalars)
    return ", ".join(parts)


def main(argv):
    if len(argv) != 3:
        print("error: two files are wanted, %d given; usage: show_fusion.py BEFORE.mlir FUSED.mlir"
              % (len(argv) - 1), file=sys.stderr)
        return 2
    texts = []
    for path in argv[1:]:
        try:
            with open(path, encoding="utf-8") as file:
                texts.append(functions(file.read()))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            print("error: cannot read '%s': %s; give MLIR as text" % (path, why), file=sys.stderr)
            return 2
        if "main" not in texts[-1]:
            print("error: '%s' has no function @main" % path, file=sys.stderr)
            return 2
    before, found = texts
    source = op_counts(before["main"])
    print("graph: " + counted({k: n for k, n in source.items() if k.startswith("linalg.")}))
    launches = re.findall(r"\bcall @([\w$.-]+)\(", found["main"])
    print("fused: " + plural(len(launches), "kernel launch").replace("launchs", "launches"))
    for number, name in enumerate(launches, 1):
        what = describe(found[name]) if name in found else "a function that is elsewhere"
        print("  %d. @%s: %s" % (number, name, what))
    rest = {k: n for k, n in op_counts(found["main"]).items() if k not in ("func.call", "call")}
    print("left in @main: " + counted(rest))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
