"""Runs the examples of the documentation.

usage: doctest.py FILE_OR_FOLDER...

Of Markdown files and of the descriptions in TableGen files, each block is run:

```mlir     coda-opt parses and verifies it, or what a comment before it says:
                <!-- doctest: coda-opt %s --some-pass -->
            (%build is the build folder that coda-opt on PATH belongs to),
            or `none: REASON`, which exempts the block. Operations outside of a
            function get one, with what they use as its arguments. A next block
            after <!-- doctest-output --> must stand in what the command prints,
            spaces and line breaks aside; `...` there stands for anything.
```console  each `$ command` is run in the shell, from the project's root, and
            must exit with 0 and print the lines below it; `...` as above, %t is
            a file to write to. Only where <!-- doctest: run --> stands before it.

Prints one line for each failure and exits 1, or how many examples it ran.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.dirname(shutil.which("coda-opt") or ""))


def blocks(text):
    """Yields (line, language, directive, body) of each fenced block."""
    fence = re.compile(
        r"(?:^[ ]*<!--\s*(doctest[^\n]*?)\s*-->\s*\n+)?^([ ]*)```(\w+)\n(.*?)^\2```[ ]*$", re.M | re.S)
    for found in fence.finditer(text):
        line = text.count("\n", 0, found.start(2)) + 1
        yield line, found.group(3), found.group(1) or "", textwrap.dedent(found.group(4))


def split(text, separators=","):
    """Splits at the separators outside of any brackets."""
    parts, depth = [""], 0
    for previous, char in zip(" " + text, text):
        depth += char in "([{<"
        depth -= char in ")]}" or (char == ">" and previous != "-")
        if depth == 0 and char in separators:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


NAME = r"%[\w$.-]+"


def operand_types(text):
    """{name: type}, as far as operations spell them: `(operands : types)` and
    `operands : types -> results`; operands beyond the types share the last."""
    types = {}
    # Comments, and the regions' bodies: their values are their own.
    text = re.sub(r"//.*", "", text)
    while opened := re.search(r"\{\s*\^", text):
        depth = 0
        for end in range(opened.start(), len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if depth == 0:
                break
        text = text[:opened.start()] + text[end + 1:]

    def pair(names, spelled):
        names, spelled = re.findall(NAME, names), split(spelled.split("->")[0])
        for i, name in enumerate(names if spelled else []):
            types.setdefault(name, spelled[min(i, len(spelled) - 1)])

    for group in re.finditer(r"\(([^():]*%[^():]*) : ([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
        pair(group.group(1), group.group(2))
    rest = re.sub(r"\(([^()]*%[^()]*)\)", "", text)
    for line in re.sub(r"\n\s+", " ", rest).splitlines():
        line = re.sub(r"^[^=]*=\s*(?=[\w.]+ )", "", line)
        if " : " in line:
            names, spelled = line.rsplit(" : ", 1)
            pair(names, spelled)
    return types


def whole(body):
    """The example as a module: as it is, or inside of a function."""
    if re.search(r"\b(func\.func|module)\b", body):
        return body
    defined = set(re.findall(r"(%[\w$-]+)(?::\d+)?(?=[^\n(]*?=)", "\n".join(
        line.split("=")[0] + "=" for line in body.splitlines() if re.match(r"\s*%[^(]*=", line))))
    defined |= set(re.findall(r"(%[\w$-]+)\s*:", " ".join(re.findall(r"\^\w+\(([^)]*)\)", body))))
    types = operand_types(body)
    arguments = []
    for name in dict.fromkeys(re.findall(r"%[\w$-]+", re.sub(r"//.*", "", body))):
        if name not in defined:
            if name not in types:
                raise ValueError("no type for %s: make the example a whole function" % name)
            arguments.append("%s: %s" % (name, types[name]))
    return "func.func @example(%s) {\n%s\nreturn\n}\n" % (
        ", ".join(arguments), textwrap.indent(body, "  "))


def contains(printed, expected):
    """Whether `expected`, with `...` for anything, stands in `printed`."""
    pieces = [re.escape("".join(p.split())) for p in expected.split("...")]
    return re.search(".*".join(pieces), "".join(printed.split())) is not None


def run(command):
    return subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def failures(path):
    """Yields (line, what) of each example that fails, and None of each good one."""
    printed = None
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for line, language, directive, body in blocks(text):
        rule = directive.partition(":")[2].strip()
        if directive == "doctest-output":
            if printed is None:
                yield line, "no command before this output"
            elif not contains(printed, body):
                yield line, "the command before prints another output:\n" + printed
            else:
                yield None
            continue
        printed = None
        if language == "console" and rule == "run":
            for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", body, re.M):
                with tempfile.NamedTemporaryFile() as scratch:
                    done = run(command.replace("%t", scratch.name))
                if done.returncode:
                    yield line, "'%s' exits with %d:\n%s" % (
                        command, done.returncode, done.stderr or done.stdout)
                elif not contains(done.stdout + done.stderr, expected):
                    yield line, "'%s' prints something else:\n%s" % (command, done.stdout)
                else:
                    yield None
        elif language == "mlir" and not rule.startswith("none:"):
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as f:
                try:
                    f.write(whole(body))
                except ValueError as error:
                    yield line, str(error)
                    continue
                f.flush()
                done = run((rule or "coda-opt %s").replace("%s", f.name).replace("%build", BUILD))
            printed = done.stdout
            yield (line, done.stderr.strip()) if done.returncode else None


def main(argv):
    paths = []
    for argument in argv[1:]:
        if os.path.isdir(argument):
            for where, folders, names in os.walk(argument):
                folders.sort()
                paths += [os.path.join(where, n) for n in sorted(names)
                          if n.endswith((".md", ".td"))]
        else:
            paths.append(argument)
    if not paths:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    ran = failed = 0
    for path in paths:
        for failure in failures(path):
            ran += 1
            if failure:
                failed += 1
                print("%s:%d: %s" % (path, *failure))
    print("%d of %d examples failed" % (failed, ran) if failed else "%d examples ran" % ran)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
