"""Events of a profile as `coda-bench tune` reads them: two calls of two programs, each
after a spin, of a kernel and one that was launched ahead of the kernel's end."""
import os
import sys
from types import SimpleNamespace as Object

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "python"))
from coda_bench.candidates import split_by_call  # noqa: E402: found by the path above

events = []


def add(name, start, end):
    events.append(Object(name=name, time_range=Object(start=start, end=end)))


# What is no kernel of the program, the profiler's own work say, holds nothing up.
add("Activity Buffer Request", 0, 30000)
for call, scale in enumerate((1, 2)):
    at = 10000 * call
    add("spin_kernel", at, at + 500)
    add("main_gemm_1_128x128x64_s5", at + 1000, at + 1000 + 1000 * scale)
    # It begins before the gemm has ended, and waits.
    add("main_map_10_128x64x64_s2", at + 1800, at + 1000 + 1000 * scale + 30 * scale)
    add("main_gemm_10_64x64x64_s5", at + 4000, at + 4100)
for times in split_by_call(events[::-1], [1, 0], ["main_gemm_1", "main_gemm_10", "main_map_10"], 2):
    print(", ".join("%s %.3f" % item for item in sorted(times.items())))
