"""MANIFEST.json DATABASE.json: a database in which each second candidate is the
fastest, made as `coda-bench tune` makes it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "python"))
from coda_bench.candidates import Database  # noqa: E402: found by the path above
from coda_bench.manifest import Manifest  # noqa: E402

manifest = Manifest.read(os.path.dirname(sys.argv[1]))
database = Database(sys.argv[2], "Toy")
for prepared in manifest.ops.values():
    for kernel in prepared.kernels:
        times = {
            candidate["schedules"][kernel["key"]]: 1.0 if i == 1 else 2.0 + i
            for i, candidate in enumerate(prepared.candidates)}
        print(database.add(kernel["key"], times, kernel["selected"]))
database.save()
