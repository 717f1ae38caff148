# Configuration of the lit suite. The features that tests may require:
#   ptxas    an assembler for PTX is on PATH (or in the build's venv)
#   numpy    %python imports numpy; torch: also a torch that knows RMSNorm
#   gpu      an NVIDIA GPU is there; sm90: one of compute capability 9.0
# The environment variable CODA_OPT_CHECK_IR_ROUNDTRIP makes every coda-opt of
# the suite check that what it prints parses to the same.
import glob
import os
import shutil
import subprocess

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "coda"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test", ".py", ".c"]
config.excludes = [
    "Inputs",
    "CMakeLists.txt",
    "lit.cfg.py",
    "lit.site.cfg.py",
    "lib",
    "doctest.py",
    "lint.py",
    "unittests",
    "install",
    "python",
]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.coda_obj_root, "test")

# The venv that tools/quickstart makes has numpy and, where the machine has no
# CUDA toolkit, ptxas.
venv = os.path.join(config.coda_obj_root, "venv")
venv_python = os.path.join(venv, "bin", "python3")
if os.path.exists(venv_python):
    config.python_executable = venv_python

path = [os.path.join(config.coda_obj_root, "bin"), config.llvm_tools_dir]
ptxas = shutil.which("ptxas")
for pattern in [
    os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "ptxas"),
    os.path.join(venv, "lib", "python3*", "site-packages", "nvidia", "*", "bin", "ptxas"),
]:
    ptxas = ptxas or next(iter(sorted(glob.glob(pattern))), None)
if ptxas:
    config.available_features.add("ptxas")
    path.append(os.path.dirname(ptxas))
for directory in reversed(path):
    llvm_config.with_environment("PATH", directory, append_path=True)


def runs(command):
    """The standard output of `command`, or None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


if runs([config.python_executable, "-c", "import numpy"]) is not None:
    config.available_features.add("numpy")
    if runs([config.python_executable, "-c", "import torch.nn; torch.nn.RMSNorm"]) is not None:
        config.available_features.add("torch")
capability = runs(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
if capability and capability.strip():
    config.available_features.add("gpu")
    if any(line.strip() == "9.0" for line in capability.splitlines()):
        config.available_features.add("sm90")
lit_config.parallelism_groups["gpu"] = 1

llvm_config.with_system_environment(
    ["HOME", "TMP", "TEMP", "CUDA_HOME", "LD_LIBRARY_PATH", "CCACHE_DIR",
     "CCACHE_BASEDIR", "CCACHE_NOHASHDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"])
llvm_config.with_environment("FILECHECK_OPTS", "-enable-var-scope")
llvm_config.use_default_substitutions()

# Before lit's own, whose %python is the one that runs lit.
config.substitutions.append(
    ("%graphs", os.path.join(config.test_source_root, "Graphs"))
)
config.substitutions[:0] = [
    ("%python", '"%s"' % config.python_executable),
    ("%coda_src_root", config.coda_src_root),
    ("%coda_obj_root", config.coda_obj_root),
    ("%coda_libs", os.path.join(config.coda_obj_root, "lib")),
    ("%cmake", config.cmake),
    ("%host_cc", config.host_cc),
    ("%host_cxx", config.host_cxx),
    ("%cxx_flags", config.cxx_flags),
    ("%linker_flags", config.linker_flags),
    ("%llvm_prefix", os.path.dirname(config.llvm_tools_dir)),
    ("%shlibext", config.llvm_shlib_ext),
]

coda_opt = "coda-opt"
if os.environ.get("CODA_OPT_CHECK_IR_ROUNDTRIP"):
    coda_opt += " --verify-roundtrip"
llvm_config.add_tool_substitutions(
    [
        ToolSubst("coda-opt", coda_opt, unresolved="ignore"),
        ToolSubst("coda-bench", unresolved="ignore"),
        ToolSubst("coda-compile", unresolved="ignore"),
        ToolSubst("coda-run", unresolved="ignore"),
        ToolSubst("coda-lsp-server", unresolved="ignore"),
        ToolSubst("mlir-opt", unresolved="ignore"),
    ],
    [os.path.join(config.coda_obj_root, "bin"), config.llvm_tools_dir],
)
