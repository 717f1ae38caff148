"""Which schedules are tried, and the database of the best. Needs no torch.

`prepare` compiles one artifact for each position in the kernels' lists of
candidates: artifact i has candidate i of the first kernel, i + 1 of the second and
so on, round; candidate 0 is the selector's own choice. `tune` measures the kernels
of all artifacts and writes the database that `coda-compile --schedule-db` reads.

The kernels of a call share the chip's power: were each kernel's fastest candidate in
one artifact, all of these would be measured at its lowest clock.
"""
import dataclasses
import datetime
import json
import os
import re
import statistics
import subprocess
from typing import Dict, List, Optional, Sequence

from .errors import UsageError
from .manifest import read_json, write_json

DATABASE_VERSION = 1
DATABASE_NAME = "schedules.json"
# A schedule has to be this much faster than the selector's to replace it: less
# is noise.
MARGIN = 0.99
# The selector's choice is reported where the best is faster than this.
GOOD_ENOUGH = 0.95


@dataclasses.dataclass
class Kernel:
    """A kernel of a graph: its function, its key in the database, and the legal
    schedules, the selector's choice first."""

    name: str
    key: str
    schedules: List[str]


def kernels_of(
    compiler: str, source: str, target: str, flags: Sequence[str]
) -> List[Kernel]:
    """Asks coda-compile; none if it refuses the graph. Kernels that no schedule fits,
    which run as loops, are left out."""
    done = subprocess.run(
        [compiler, source, "--target=" + target, "--emit=schedules", "-o", "-", *flags],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return []
    return [
        Kernel(kernel["name"], kernel["key"], kernel["schedules"])
        for kernel in json.loads(done.stdout)["kernels"] if kernel["schedules"]]


def _shape(schedule: str) -> str:
    """What of a schedule matters most: its tile and who works on it."""
    tile = re.search(r"tile = \[[^\]]*\]", schedule)
    roles = re.findall(r"(?:pingpong|ordered|chunk|cluster|swap|split)\w* = [^,>]+", schedule)
    return " ".join(([tile.group(0)] if tile else []) + roles)


def spread(schedules: List[str], limit: int) -> List[str]:
    """At most `limit` of them, the first one first, from all tile shapes in turn, in the
    list's order; every fourth is one with swapped factors, as long as there are any."""
    swapped = [schedule for schedule in schedules if "swap = true" in schedule]
    kept = _in_turn([schedule for schedule in schedules if schedule not in swapped])
    swapped = _in_turn(swapped)
    # The selector's choice.
    chosen = swapped[:1] if schedules[:1] == swapped[:1] else []
    del swapped[:len(chosen)]
    while kept or swapped:
        chosen += kept[:3] + swapped[:1]
        del kept[:3], swapped[:1]
    return chosen[:limit]


def _in_turn(schedules: List[str]) -> List[str]:
    """All of them, from all tile shapes in turn."""
    groups: Dict[str, List[str]] = {}
    for schedule in schedules:
        groups.setdefault(_shape(schedule), []).append(schedule)
    chosen: List[str] = []
    for depth in range(max(map(len, groups.values()), default=0)):
        chosen += [group[depth] for group in groups.values() if depth < len(group)]
    return chosen


def positions(kernels: List[Kernel], limit: int) -> List[Dict[str, str]]:
    """{key: schedule} for each artifact; kernels with shorter lists have their first
    candidate more than once."""
    lists = {kernel.key: spread(kernel.schedules, limit) for kernel in kernels}
    count = max(map(len, lists.values()), default=0)

    def candidate(found, position):
        return found[position] if position < len(found) else found[0]

    return [
        {key: candidate(found, (i + j) % count) for j, (key, found) in enumerate(lists.items())}
        for i in range(count)]


class Database:
    """The file that `coda-compile --schedule-db` reads."""

    def __init__(self, path: str, gpu: str):
        self.path = path
        self.data = dict(version=DATABASE_VERSION, gpus={})
        if os.path.exists(path):
            self.data = read_json(path, "`coda-bench tune` writes such files")
            if self.data.get("version") != DATABASE_VERSION or "gpus" not in self.data:
                raise UsageError("%s is no schedule database of version %d" % (
                    path, DATABASE_VERSION))
        self.entries: Dict[str, dict] = self.data["gpus"].setdefault(gpu, {})
        # Artifacts that took the device down: not tried again.
        self.broken: List[str] = self.data.setdefault("broken", [])

    def add(self, key: str, times: Dict[str, float], selected: str) -> Optional[dict]:
        """Enters the best of {schedule: ms}; None if there is none to choose from."""
        if not times:
            return None
        best = min(times, key=times.get)
        if selected in times and times[best] > MARGIN * times[selected]:
            best = selected
        self.entries[key] = dict(
            schedule=best, ms=times[best], selected=selected, selected_ms=times.get(selected),
            candidates=len(times),
            date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"))
        return self.entries[key]

    def save(self) -> None:
        write_json(self.path, self.data)


def write_positions(path: str, schedules: Dict[str, str]) -> None:
    """A database that forces one schedule on each kernel."""
    write_json(path, dict(version=DATABASE_VERSION, gpus=dict(forced={
        key: dict(schedule=schedule) for key, schedule in schedules.items()})))


def split_by_call(
    events, order: List[int], names: List[str], count: int
) -> List[Dict[str, float]]:
    """The medians of `kernel_times` from a profile's events, which are calls of the
    `count` runs in the given order, each after a spin."""
    events = sorted(events, key=lambda event: event.time_range.start)
    longest_first = sorted(names, key=len, reverse=True)
    taken: List[Dict[str, List[float]]] = [{name: [] for name in names} for _ in range(count)]
    current, ended = -1, 0.0
    for event in events:
        if "spin_kernel" in event.name:
            current += 1  # Each call comes after a spin.
            continue
        name = next((n for n in longest_first if event.name.startswith(n)), None)
        if name is not None and 0 <= current < len(order):
            start, end = event.time_range.start, event.time_range.end
            taken[order[current]][name].append((end - max(start, ended)) / 1e3)
            ended = max(end, ended)
    return [
        {name: statistics.median(times) for name, times in found.items() if times}
        for found in taken]
