"""Cuts the forward out of a graph of forward and backward:

    forward_of_joint.py JOINT.mlir RESULTS COTANGENTS > FORWARD.mlir

returns the first RESULTS results, drops the last COTANGENTS arguments, and what
the gradients alone needed. Needs coda-opt on PATH.
"""
import re
import subprocess
import sys


def split(text):
    """At the commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for char in text:
        depth += (char in "<([") - (char in ">)]")
        if char == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += char
    return parts + [part.strip()]


def cut(text, results, cotangents):
    last = re.search(r"^( *)(return|func\.return) (.*?) : (.*)$", text, re.M)
    values, types = split(last.group(3))[:results], split(last.group(4))[:results]
    text = "%s%s%s %s : %s%s" % (text[:last.start()], last.group(1), last.group(2),
                                 ", ".join(values), ", ".join(types), text[last.end():])
    head = re.search(r"@main\((.*?)\) -> (\(.*?\)|tensor<[^>]*>)(?= (?:attributes|\{))", text)
    arguments = split(head.group(1))
    arguments = arguments[:len(arguments) - cotangents]
    return "%s@main(%s) -> (%s)%s" % (text[:head.start()], ", ".join(arguments), ", ".join(types),
                                      text[head.end():])


joint, results, cotangents = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(joint, encoding="utf-8") as f:
    whole = cut(f.read(), results, 0)
live = subprocess.run(["coda-opt", "--canonicalize", "-"], input=whole, capture_output=True,
                      text=True, check=True).stdout
sys.stdout.write(cut(live, results, cotangents))
