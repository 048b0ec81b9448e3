# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that includes go along the allowed arrows of docs/architecture.md only. Argument: the source folder.

import pathlib
import re
import sys

# For each layer, the path prefixes that its sources may include; the longest matching layer decides. Pipelines and
# KernelReport are the places of codegen that know the passes, and no layer but the tools knows them.
ALLOWED = {
    "dialect/": ["dialect/"],
    "passes/": ["passes/", "dialect/"],
    "codegen/": ["codegen/", "dialect/", "runtime/resid.h"],
    "codegen/Pipelines": ["codegen/", "passes/", "dialect/"],
    "codegen/KernelReport": ["codegen/", "passes/", "dialect/"],
    "diagram/": ["diagram/", "passes/", "dialect/"],
    "reference/": ["reference/", "dialect/"],
    "runtime/": ["runtime/"],
    "tools/": ["tools/", "codegen/", "diagram/", "passes/", "dialect/", "reference/", "runtime/"],
    "benchmarks/": ["benchmarks/", "runtime/"],
}
LAYERS = ("dialect/", "passes/", "codegen/", "diagram/", "reference/", "runtime/", "tools/", "test/", "benchmarks/",
          "examples/")
INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s*["<]([^">]+)[">]')


def violations(root):
    for folder in sorted({layer.split("/")[0] for layer in ALLOWED}):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h", ".td"):
                continue
            name = path.relative_to(root).as_posix()
            layer = max((layer for layer in ALLOWED if name.startswith(layer)), key=len)
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if match and not allowed(match.group(1), layer):
                    yield f"{name}:{number}: {layer} may not include {match.group(1)}"


def allowed(included, layer):
    if layer == "runtime/" and included.startswith(("mlir", "llvm")):
        return False
    return not included.startswith(LAYERS) or included.startswith(tuple(ALLOWED[layer]))


found = list(violations(pathlib.Path(sys.argv[1])))
print("\n".join(found) if found else "all includes follow the arrows")
sys.exit(1 if found else 0)
