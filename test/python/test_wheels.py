# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The wheels: their sizes, names and contents, and that they install and work in an empty environment without network, where
# no C compiler is found. And that another LLVM in the process does no harm.

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RESID_BUILD", ROOT / "build"))
ALL = sorted(BUILD.glob("wheels/*.whl"))
OWN = f"-cp{sys.version_info[0]}{sys.version_info[1]}-"
WHEELS = [wheel for wheel in ALL if OWN in wheel.name or (sys.version_info >= (3, 12) and "-abi3-" in wheel.name)]
MIB = 1 << 20

PROGRAM = """
func.func @add_rms(%x: tensor<?x64xf32>, %f: tensor<?x64xf32>, %gamma: tensor<64xf32>) -> tensor<?x64xf32> {
  %s = resid.add %x, %f : tensor<?x64xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x64xf32>, tensor<64xf32>
  return %y : tensor<?x64xf32>
}
"""

if len(WHEELS) != 2:
    pytest.skip("needs the wheels (make wheel)", allow_module_level=True)
COMPILER, RUNTIME = WHEELS


def test_are_small():
    assert COMPILER.stat().st_size <= 35 * MIB and RUNTIME.stat().st_size < MIB
    assert sum(entry.file_size for entry in zipfile.ZipFile(COMPILER).infolist()) <= 90 * MIB


def test_say_which_systems_they_are_for():
    for wheel in WHEELS:
        # Ubuntu 22.04 has 2.35, and RHEL 9 has 2.34 and no symbol of libstdc++ beyond GCC 11's; the C++ library is inside.
        minor = int(re.search(rf"-manylinux_2_(\d+)_{platform.machine()}\.whl$", wheel.name)[1])
        assert minor <= 34


def test_have_licences_and_types():
    names = zipfile.ZipFile(COMPILER).namelist()
    assert "resid/py.typed" in names and any(name.endswith("licenses/LICENSE") for name in names)
    assert {f"resid/licenses/{name}.txt" for name in ("llvm", "zstd", "zlib", "nanobind")} <= set(names)
    assert b"LLVM" in zipfile.ZipFile(COMPILER).read("resid/licenses/llvm.txt")
    assert not [name for name in names if "__pycache__" in name or name.startswith("resid_runtime/")]


def test_export_their_beginnings_alone(tmp_path):
    sys.path.insert(0, str(ROOT / "python/runtime"))
    for wheel, expected in ((COMPILER, r"PyInit__compiler$"), (RUNTIME, r"PyInit__caller$|resid_\w+$")):
        with zipfile.ZipFile(wheel) as archive:
            (library,) = [name for name in archive.namelist() if name.endswith(".so")]
            path = archive.extract(library, tmp_path)
        listing = subprocess.run(["readelf", "--wide", "--dyn-syms", path], check=True, capture_output=True, text=True).stdout
        defined = re.findall(r"(?:GLOBAL|WEAK)\s+\w+\s+\d+\s+(\S+)", listing)
        assert defined and not [name for name in defined if not re.match(expected, name)]


@pytest.mark.parametrize("wheel", [wheel for wheel in ALL if wheel not in WHEELS and wheel.name.startswith("resid-")], ids=lambda wheel: wheel.name.split("-")[2])
def test_work_on_another_python(wheel, tmp_path):
    version = re.search(r"-cp3(\d+)-", wheel.name)[1]
    later = range(int(version), int(version) + 3) if "-abi3-" in wheel.name else [version]
    found = [python for python in (shutil.which(f"python3.{minor}") for minor in later) if python]
    if not found:
        pytest.skip(f"no Python 3.{version} is on PATH")
    code = f"""
import array, resid, sys
x = memoryview(array.array('f', [1] * 192)).cast('B').cast('f', [3, 64])
y = memoryview(array.array('f', [0] * 192)).cast('B').cast('f', [3, 64])
resid.compile({PROGRAM!r}).add_rms(x, x, memoryview(array.array('f', [1] * 64)), out=y)
print(sum(y[i, j] for i in range(3) for j in range(64)))
"""
    for python in found:
        packages = tmp_path / pathlib.Path(python).name
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--find-links", wheel.parent, "--target", packages, "resid"]
        subprocess.run(install, check=True)
        done = subprocess.run([python, "-c", code], env=dict(os.environ, PYTHONPATH=packages, RESID_CACHE=tmp_path / "cache"), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert abs(float(done.stdout) - 192) < 1e-3


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment with the wheels and NumPy, from a local folder alone."""
    folder = tmp_path_factory.mktemp("wheels")
    local = BUILD / "numpy-wheel"
    if not list(local.glob("numpy-*.whl")):
        fetch = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", local, "numpy"], capture_output=True, text=True)
        if fetch.returncode:
            pytest.skip(f"no wheel of NumPy to be had: {fetch.stderr.strip().splitlines()[-1]}")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    install = [folder / "venv/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--find-links", local,
               "--find-links", COMPILER.parent, "resid", "numpy"]
    subprocess.run(install, check=True, env=dict(os.environ, PIP_NO_INDEX="1"))
    return folder


def run(environment, code):
    """Runs code in the environment, where PATH has nothing."""
    empty = environment / "empty"
    empty.mkdir(exist_ok=True)
    variables = {"PATH": str(empty), "HOME": str(environment), "RESID_CACHE": str(environment / "cache"), "LANG": "C.UTF-8"}
    return subprocess.run([environment / "venv/bin/python", "-I", "-c", code], env=variables, cwd=environment, capture_output=True, text=True)


def test_work_without_network_and_compiler(environment):
    code = f"""
import numpy, resid
kernels = resid.compile({PROGRAM!r})
x = numpy.ones((3, 64), 'float32')
kernels.save('libk.so', header='k.h')
print(kernels.add_rms(x, x, x[0]).sum())
"""
    done = run(environment, code)
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout) - 192) < 1e-3
    alone = run(environment, "import sys, resid_runtime, numpy; x = numpy.ones((3, 64), 'float32')\n"
                             "print(resid_runtime.load('libk.so').add_rms(x, x, x[0]).sum(), 'resid' in sys.modules)")
    assert alone.stdout.split()[1] == "False" and abs(float(alone.stdout.split()[0]) - 192) < 1e-3, alone.stderr


def test_run_the_example_of_the_page(environment):
    text = (ROOT / "python/README.md").read_text()
    done = run(environment, re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    assert done.returncode == 0, done.stderr
    assert (environment / "add_rms.h").is_file()


def test_run_the_example(environment):
    done = run(environment, (ROOT / "examples/python_package/main.py").read_text())
    assert done.returncode == 0, done.stderr
    assert "loaded: the same bits" in done.stdout
    assert "refused: argument 'f': dimension 0 is 3, expected 8 (that of 'x')" in done.stdout
    gradient, difference = done.stdout.split("gradient: ")[1].split("\n")[0].split(", by a difference: ")
    assert abs(float(gradient) - float(difference)) < 1e-2


def test_the_command_answers(environment):
    done = subprocess.run([environment / "venv/bin/resid", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "import" in done.stdout and "model" in done.stdout


@pytest.mark.parametrize("order", ["resid first", "resid last"])
def test_another_llvm_in_the_process_does_no_harm(order, tmp_path):
    pytest.importorskip("triton", reason="needs torch and triton")
    pytest.importorskip("torch", reason="needs torch and triton")
    other = "import torch, triton._C.libtriton as other; other.llvm.init_targets(); context = other.llvm.context()\n"
    own = f"import numpy, resid; x = numpy.ones((3, 64), 'float32'); print(resid.compile({PROGRAM!r}, use_cache=False).add_rms(x, x, x[0]).sum())\n"
    code = own + other + own if order == "resid first" else other + own
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(abs(float(line) - 192) < 1e-3 for line in done.stdout.split())
