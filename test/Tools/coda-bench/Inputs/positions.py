"""The artifacts of three kernels with lists of candidates of different lengths."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "python"))
from coda_bench.candidates import Kernel, positions  # noqa: E402: found by the path above

kernels = [
    Kernel(name, name, ["tile = [%s, %d]" % (name, i) for i in range(count)])
    for name, count in (("a", 3), ("b", 2), ("c", 4))]
for schedules in positions(kernels, 3):
    print(", ".join(schedule[len("tile = "):] for schedule in schedules.values()))
