"""Checks what coda-raise found: `check_raised.py OP=COUNT...` reads a module on
standard input and fails unless it has exactly that many of each op of the
dialect (ops that are not named: none).
"""

import collections
import re
import sys


def main():
    wanted = {}
    for arg in sys.argv[1:]:
        name, count = arg.split("=")
        wanted[name] = int(count)
    found = collections.Counter(
        re.findall(r"^ *%[^=]+= coda\.(\w+)", sys.stdin.read(), re.M)
    )
    if dict(found) != wanted:
        sys.exit("check_raised.py: expected %s, found %s" % (wanted, dict(found)))


main()
