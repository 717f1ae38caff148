"""What `prepare` leaves in its folder for `run`."""
import dataclasses
import json
import os
from typing import Dict, List, Optional

from .errors import UsageError

NAME = "manifest.json"
# What `run` leaves there.
RESULTS_NAME = "results.json"
VERSION = 1


@dataclasses.dataclass
class Prepared:
    """One op: its files, relative to the folder, and the graph's names.

    entry       the function of the artifact that is called
    error       why there is no artifact, mostly as coda-compile said it
    launches    the kernels that the compiled graph starts
    remarks     what was not fused, and why
    kernels     for tuning: name, key in a schedule database, the selector's choice
    candidates  for tuning: artifacts, and {key: schedule} of each
    """

    source: Optional[str] = None
    arguments: List[str] = dataclasses.field(default_factory=list)
    results: List[str] = dataclasses.field(default_factory=list)
    entry: str = "main"
    artifact: Optional[str] = None
    error: str = ""
    launches: List[str] = dataclasses.field(default_factory=list)
    remarks: List[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    kernels: List[Dict[str, str]] = dataclasses.field(default_factory=list)
    candidates: List[dict] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Manifest:
    compiler: str
    target: str
    ops: Dict[str, Prepared] = dataclasses.field(default_factory=dict)

    def write(self, folder: str) -> None:
        data = dict(version=VERSION, **dataclasses.asdict(self))
        write_json(os.path.join(folder, NAME), data)

    @classmethod
    def read(cls, folder: str) -> "Manifest":
        """Raises UsageError."""
        path = os.path.join(folder, NAME)
        data = read_json(path, "`coda-bench prepare %s` makes it" % folder)
        if data.get("version") != VERSION:
            raise UsageError("%s is of another version; prepare the folder again" % path)
        try:
            ops = {key: Prepared(**value) for key, value in data["ops"].items()}
            return cls(data["compiler"], data["target"], ops)
        except (AttributeError, KeyError, TypeError):
            raise UsageError(
                "%s lacks what `coda-bench prepare` writes; prepare the folder again" % path) from None


def write_text(path: str, text: str) -> None:
    """Complete or not at all; what is no regular file (a pipe, a device) is written
    as it is. Raises UsageError."""
    special = os.path.exists(path) and not os.path.isfile(path)
    temporary = path if special else path + ".part"
    try:
        with open(temporary, "w", encoding="utf-8") as f:
            f.write(text)
        if not special:
            os.replace(temporary, path)
    except OSError as error:
        if not special and os.path.exists(temporary):
            os.remove(temporary)
        raise UsageError("cannot write %s: %s; give the path of a file in a folder that is "
                         "there and may be written to" % (path, error.strerror)) from None


def write_json(path: str, data) -> None:
    """As `write_text`."""
    write_text(path, json.dumps(data, indent=1) + "\n")


def read_json(path: str, hint: str) -> dict:
    """An object; raises UsageError, with `hint` on what to do about it."""
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
    except OSError as error:
        raise UsageError("cannot read %s: %s; %s" % (path, error.strerror, hint)) from None
    except ValueError as error:
        raise UsageError("%s is no JSON: %s; %s" % (path, error, hint)) from None
    if not isinstance(data, dict):
        raise UsageError("%s holds no object; %s" % (path, hint))
    return data
