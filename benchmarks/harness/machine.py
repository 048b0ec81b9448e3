# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the numbers were measured on, without saying whose machine it is.

import os
import pathlib
import platform


def cpu_fields():
    fields = {}
    try:
        for line in open("/proc/cpuinfo"):
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    return fields


def caches():
    """Such as 'L2 1 MiB, L3 32 MiB': the unified caches as the first processor sees them."""
    found = []
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            kibibytes = int(size.rstrip("K"))
            found.append(f"L{level} {kibibytes / 1024:g} MiB" if kibibytes >= 1024 else f"L{level} {kibibytes} KiB")
    return ", ".join(found)


def describe(clock):
    """One line: model, family, cores, caches, clock in GHz."""
    fields = cpu_fields()
    model = fields.get("model name", platform.machine())
    family = f" (family {fields['cpu family']}, model {fields['model']})" if "cpu family" in fields else ""
    parts = [f"{model}{family}", f"{os.cpu_count()} cores", caches(), f"{clock:.2f} GHz while measuring"]
    return ", ".join(part for part in parts if part)


def last_level_bytes():
    """The size of the largest cache; 32 MiB where the system does not say."""
    sizes = []
    for path in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        try:
            sizes.append(int(path.read_text().strip().rstrip("K")) * 1024)
        except (OSError, ValueError):
            continue
    return max(sizes, default=32 << 20)
