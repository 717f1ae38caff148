"""How the compiler is found, called and heard, with a stand-in for it."""
import pathlib
import shutil
import stat
import subprocess
import sys
import warnings

import pytest

import coda

PACKAGE = pathlib.Path(coda.__file__).parent.parent


@pytest.fixture
def stand_in(tmp_path, monkeypatch, fake_artifact):
    """A coda-compile that copies the hand-written artifact and notes its
    arguments and input; text that holds "bad" it refuses as coda-compile would."""
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "coda-compile"
    tool.write_text("""#!/bin/sh
echo "$@" > %(t)s/arguments
cat "$1" > %(t)s/input
if grep -q bad %(t)s/input; then
  echo "error: <stdin>:1:1: bad input: write it well" >&2; exit 2
fi
if grep -q slow %(t)s/input; then
  echo "remark: <stdin>:1:1: it runs as loops" >&2; echo "a word" >&2
fi
while [ "$1" != -o ]; do shift; done
cp %(so)s "$2"
""" % {"t": tmp_path, "so": fake_artifact})
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CODA_HOME", str(tmp_path))
    return tmp_path


def test_compiles_and_loads(stand_in, tmp_path):
    artifact = coda.compile("module {}", numerics="strict", report=tmp_path / "r.json",
                            save=None, print_times=True, dump=False)
    assert "scale" in artifact.entries
    arguments = (stand_in / "arguments").read_text()
    assert arguments.split()[1] == "--target=cpu"
    assert "--numerics=strict --report=%s --print-times\n" % (tmp_path / "r.json") in arguments
    assert (stand_in / "input").read_text() == "module {}"
    scratch = pathlib.Path(artifact.path).parent
    assert scratch.exists()
    del artifact
    assert not scratch.exists()


def test_keeps_the_output_where_asked(stand_in, tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text("module {}")
    artifact = coda.compile(source, output=tmp_path / "kept.so")
    assert artifact.path == str(tmp_path / "kept.so")
    assert (stand_in / "arguments").read_text().startswith(str(source))


def test_refusal(stand_in):
    with pytest.raises(coda.CompileError) as caught:
        coda.compile("bad")
    assert str(caught.value) == "error: <string>:1:1: bad input: write it well"
    assert caught.value.returncode == 2


def test_what_is_slow_is_a_warning(stand_in):
    with pytest.warns(coda.PerformanceWarning) as caught:
        slow = coda.compile("slow")
    assert slow.entries and [str(w.message) for w in caught] == ["<string>:1:1: it runs as loops"]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = coda.compile("module {}")
    assert fast.entries


def test_lists_are_joined(stand_in):
    coda.compile("module {}", grad=True, grad_constants=[2, 3], plain_gemms=[])
    assert (stand_in / "arguments").read_text().endswith(" --grad --grad-constants=2,3\n")


def test_what_cannot_be_loaded_here_is_kept(stand_in, tmp_path, monkeypatch):
    def load(path):
        raise coda.DeviceError("no CUDA driver")
    monkeypatch.setattr(coda.Artifact, "load", load)
    with pytest.raises(coda.DeviceError, match="no CUDA driver; .*kept.so was compiled, and is "
                                               "complete: coda.Artifact.load takes it there"):
        coda.compile("module {}", output=tmp_path / "kept.so")
    assert (tmp_path / "kept.so").stat().st_size > 0
    with pytest.raises(coda.DeviceError, match="no CUDA driver; give output= to keep"):
        coda.compile("module {}")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arguments", "bin", "input", "kept.so"]


def test_what_is_no_source_or_stage(stand_in, tmp_path):
    with pytest.raises(coda.ArgumentError, match="a source of type int: give MLIR as str or bytes"):
        coda.compile(3)
    with pytest.raises(coda.ArgumentError, match="'no/such.mlir' is the name of a file, not MLIR"):
        coda.compile("no/such.mlir")
    (tmp_path / "graph").write_text("module {}")
    with pytest.raises(coda.ArgumentError, match=r"give a path object, pathlib.Path\('.*graph'\)"):
        coda.compile(str(tmp_path / "graph"))
    assert not (stand_in / "input").exists()
    with pytest.raises(coda.ArgumentError, match="target=None: there are 'cpu' and 'sm_90a'"):
        coda.compile("module {}", target=None)
    with pytest.raises(coda.ArgumentError, match="emit='llvm': what is loaded is a shared library"):
        coda.compile("module {}", emit="llvm")


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CODA_HOME", str(tmp_path))
    with pytest.raises(coda.ToolNotFoundError, match="set CODA_HOME"):
        coda.compile("module {}")


def test_installs(tmp_path):
    """`pip install ./python` gives a typed package that imports by itself."""
    sources = tmp_path / "sources"
    shutil.copytree(PACKAGE, sources, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
         "--no-index", "--disable-pip-version-check", "--target", str(tmp_path / "site"),
         str(sources)], check=True)
    assert (tmp_path / "site" / "coda" / "py.typed").exists()
    version = subprocess.run(
        [sys.executable, "-c", "import coda; print(coda.__version__, coda.__file__)"],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "site")}, check=True,
        capture_output=True, text=True).stdout
    assert version.split() == ["0.1.0", str(tmp_path / "site" / "coda" / "__init__.py")]
