"""Rules that the sources keep, one function each; run by the tests beside this.

usage: lint.py RULE ROOT

Prints one line for each breach, `path:line: what`, and exits 1 if there is
any; ROOT is the folder of the project, or of a test's own bad example.
"""
import os
import re
import sys

# Folders that are not the project's own text.
SKIPPED = {".git", "build", "__pycache__", ".venv", "install", ".carry"}


def files(root, *folders, suffixes=None):
    """Paths relative to `root` of the files under `folders`, sorted."""
    for folder in folders or ("",):
        top = os.path.join(root, folder)
        if os.path.isfile(top):
            yield folder
        for where, names, found in os.walk(top):
            names[:] = sorted(
                n for n in names if n not in SKIPPED and not n.startswith("build"))
            for name in sorted(set(found) - SKIPPED):
                if suffixes is None or name.endswith(suffixes):
                    yield os.path.relpath(os.path.join(where, name), root)


def lines(root, path):
    try:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            return f.read().splitlines()
    except UnicodeDecodeError:  # An array file of a graph.
        return []


def matches(root, paths, pattern, what):
    for path in paths:
        for number, line in enumerate(lines(root, path), 1):
            if found := re.search(pattern, line, re.IGNORECASE):
                yield path, number, what % found.group(0)


def dead_checks(root):
    """Each CHECK prefix in a test is one that a RUN line gives to FileCheck."""
    for path in files(root, "test", suffixes=(".mlir", ".test", ".py", ".c")):
        if path.endswith("Lint/dead-checks.test"):  # Holds bad examples.
            continue
        text = "\n".join(lines(root, path))
        run = "\n".join(re.findall(r"RUN:(.*)", text))
        run = re.sub(r"\\\n", " ", run)
        known = set()
        for call in re.findall(r"FileCheck([^|\n]*)", run):
            given = re.findall(r"-?-check-prefix(?:es)?[= ]([\w,-]+)", call)
            known.update(",".join(given).split(",") if given else ["CHECK"])
        for number, line in enumerate(text.splitlines(), 1):
            found = re.match(
                r"\s*(?://|#|;)\s*([A-Z][\w-]*?)"
                r"(?:-(?:NEXT|NOT|SAME|DAG|LABEL|EMPTY|COUNT-\d+))?:", line)
            if found and "CHECK" in found.group(1) and found.group(1) not in known:
                yield path, number, "no RUN line gives FileCheck the prefix %s" % found.group(1)


def dead_tests(root):
    """Each file with RUN lines has a suffix that the tests of its folder have."""
    def find_suffixes(folder):
        for name in ("lit.local.cfg", "lit.cfg.py"):
            text = "\n".join(lines(root, os.path.join(folder, name))) if os.path.isfile(
                os.path.join(root, folder, name)) else ""
            if found := re.search(r"config\.suffixes\s*=\s*\[(.*?)\]", text):
                return tuple(re.findall(r'"(.*?)"', found.group(1)))
        return find_suffixes(os.path.dirname(folder)) if folder else ()

    for path in files(root, "test"):
        if "/Inputs/" in path or path.endswith(("lit.cfg.py", "Lint/lint.py")):
            continue
        for number, line in enumerate(lines(root, path), 1):
            if re.match(r"\s*(//|#|;)\s*RUN:", line):
                if not path.endswith(find_suffixes(os.path.dirname(path))):
                    yield path, number, "never runs: its folder's tests end otherwise"
                break


# Words of identifiers, alone or in a row, that belong to one model or kernel.
SEMANTIC = {
    ("rope",), ("rotary",), ("swiglu",), ("geglu",), ("glu",), ("rms",),
    ("rmsnorm",), ("layernorm",), ("layer", "norm"), ("qkv",), ("oproj",),
    ("o", "proj"), ("cross", "entropy"), ("llama",), ("gemma",), ("qwen",),
    ("mistral",),
}


def lowering_is_generic(root):
    """What lowers knows no semantic op, model, pattern or kernel by name."""
    folders = [
        "lib/Conversion", "include/coda/Conversion",
        "lib/Dialect/CodaGPU", "include/coda/Dialect/CodaGPU",
    ]
    for path in files(root, *folders):
        for number, line in enumerate(lines(root, path), 1):
            for name in re.findall(r"[A-Za-z_]\w*", line):
                words = [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
                pairs = [(w,) for w in words] + list(zip(words, words[1:]))
                if SEMANTIC.intersection(pairs):
                    yield path, number, "a lowering names '%s'" % name


def no_global_options(root):
    """Libraries take options in structs."""
    yield from matches(
        root, files(root, "lib", "include", suffixes=(".h", ".cpp")),
        r"\bcl::(opt|list|bits)\s*<", "'%s' in a library: use an options struct")


def short_files(root):
    """No source is longer than 900 lines."""
    for path in files(
            root, "include", "lib", "tools", "python", "cmake",
            suffixes=(".h", ".cpp", ".c", ".td", ".py", ".txt", ".cmake")):
        count = len(lines(root, path))
        if count > 900:
            yield path, count, "%d lines: split it along a seam" % count


def no_machine_paths(root):
    """No path of one machine."""
    paths = [p for p in files(root) if not p.endswith((".npz", "Lint/lint.py"))]
    yield from matches(
        root, paths, r"(?<![\w.$}/-])/(work|root|home)/\w+|(?<![\w.$}])/tmp/\w+",
        "the path '%s' of one machine")


def described(root):
    """Each op and pass of a .td file has a summary and a description."""
    for path in files(root, "include", suffixes=(".td",)):
        text = lines(root, path)
        start = None
        for number, line in enumerate(text, 1):
            # A definition ends at its closing brace, or at a `;` of its own.
            if found := re.match(r"def\s+(\w+)\s*:", line):
                start, name, body = number, found.group(1), []
            if start is None:
                continue
            body.append(line)
            if not re.match(r"\}|.*;\s*$", line) or (line.startswith(" ") and ";" in line):
                continue
            whole = " ".join(body)
            start_line, start = start, None
            is_pass = re.search(r":\s*(Interface)?Pass<", whole)
            is_op = re.search(r":\s*\w*Op<\s*\"", whole)
            if (is_op or is_pass) and not re.search(r"\b(let\s+)?description\s*=", whole):
                yield path, start_line, "%s has no description" % name
            elif is_pass and not re.search(r"\blet\s+summary\s*=|Pass<[^>]*\"[^>]*\"[^>]*\"", whole):
                yield path, start_line, "%s has no summary" % name


def examples(root):
    """Each op of the coda dialect has an example in its description; the tests
    in test/Docs run them."""
    for path in files(root, "include", suffixes=(".td",)):
        if "CodaGPU" in path:
            continue
        text = "\n".join(lines(root, path))
        for found in re.finditer(r"^def\s+(\w+)\s*:\s*(\w*Op)<\s*\"(.*?)^\}", text, re.M | re.S):
            if not re.search(r"\bExample\b[^`]*```mlir", found.group(0)):
                yield path, text.count("\n", 0, found.start()) + 1, (
                    "%s has no example" % found.group(1))


def no_left_overs(root):
    """Nothing is marked as left for later."""
    paths = files(root, "include", "lib", "tools", "python", "cmake")
    yield from matches(root, paths, r"\b(TODO|FIXME|XXX)\b", "left over: %s")


RULES = {
    "dead-checks": dead_checks,
    "dead-tests": dead_tests,
    "described": described,
    "examples": examples,
    "lowering-is-generic": lowering_is_generic,
    "no-global-options": no_global_options,
    "no-left-overs": no_left_overs,
    "no-machine-paths": no_machine_paths,
    "short-files": short_files,
}


def main(argv):
    if len(argv) != 3 or argv[1] not in RULES:
        print("usage: lint.py %s ROOT" % "|".join(sorted(RULES)), file=sys.stderr)
        return 2
    breaches = list(RULES[argv[1]](argv[2]))
    for path, number, what in breaches:
        print("%s:%d: %s" % (path, number, what))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
