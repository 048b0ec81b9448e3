# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tag.py WHEEL...: names wheels after the C library that they need, as manylinux_2_N: N is the latest version of glibc that a
# symbol in them asks for. Refuses wheels that need libraries which such systems may not have.

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# What PEP 600 lets wheels take from the system, as far as resid takes it.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def inspect(library: pathlib.Path) -> int:
    """The second number of the glibc that a library needs."""
    text = subprocess.run(["readelf", "--wide", "--dynamic", "--version-info", library], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.+?)\]", text))
    if needed - SYSTEM:
        sys.exit(f"tag: {library.name}: expected libraries of {', '.join(sorted(SYSTEM))} only, but it needs {', '.join(sorted(needed - SYSTEM))}")
    return max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", text))


def tag(wheel: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        minor = max(map(inspect, pathlib.Path(folder).rglob("*.so")))
    machine = re.search(r"linux_(\w+)\.whl", wheel.name)[1]
    subprocess.run([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", f"manylinux_2_{minor}_{machine}", wheel], check=True)


for path in map(pathlib.Path, sys.argv[1:]):
    tag(path)
