"""Counts the results that tools/quickstart collected.

usage: count_tests.py FOLDER

FOLDER holds lit.json (lit -o) and, where it ran, pytest.xml (--junitxml).
Prints the tests that failed, how many were skipped, and as its last line
"N passed, N failed". Exits 1 if a test failed or none ran.
"""
import json
import os
import sys
import xml.etree.ElementTree as ElementTree


def lit_results(path):
    """Yields (name, "passed" | "failed" | "skipped") of each lit test."""
    with open(path, encoding="utf-8") as f:
        tests = json.load(f)["tests"]
    for test in tests:
        code = test["code"]
        if code in ("PASS", "XFAIL", "FLAKYPASS"):
            yield test["name"], "passed"
        elif code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            yield test["name"], "skipped"
        else:
            yield test["name"], "failed"


def pytest_results(path):
    """Yields (name, result) as above of each pytest case."""
    for case in ElementTree.parse(path).iter("testcase"):
        name = "%s::%s" % (case.get("classname"), case.get("name"))
        tags = {child.tag for child in case}
        if tags & {"failure", "error"}:
            yield name, "failed"
        else:
            yield name, "skipped" if "skipped" in tags else "passed"


def main(argv):
    if len(argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    results = []
    for name, read in ("lit.json", lit_results), ("pytest.xml", pytest_results):
        path = os.path.join(argv[1], name)
        if os.path.exists(path):
            results += read(path)
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for name, result in results:
        count[result] += 1
        if result != "passed":
            print("%s: %s" % (result, name))
    print("%(skipped)d skipped" % count)
    print("%(passed)d passed, %(failed)d failed" % count)
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
