import os
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent


def build(folder, name, *flags):
    """Compiles fake_artifact.c to folder/name."""
    compiler = os.environ.get("CC") or shutil.which("clang-22") or shutil.which("cc")
    assert compiler, "a C compiler is needed: set CC"
    library = folder / name
    subprocess.run(
        [compiler, "-std=c11", "-shared", "-fPIC", "-O1", *flags, "-I", str(ROOT / "include"),
         str(HERE / "fake_artifact.c"), "-o", str(library)], check=True)
    return library


@pytest.fixture(scope="session")
def fake_artifact(tmp_path_factory):
    return build(tmp_path_factory.mktemp("artifact"), "fake.so")


@pytest.fixture(scope="session")
def newer_artifact(tmp_path_factory):
    return build(tmp_path_factory.mktemp("artifact"), "newer.so", "-DVERSION=2")
