# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that includes go along the arrows of docs/architecture/layers.json only, and that every folder of sources stands
# there. Arguments: the source folder, then, if it is another one, the folder of the table.

import pathlib
import re
import sys

from layers import layer_of, read_layers

# Sources under these folders have no layer: nothing of the compiler may include them.
OUTSIDE = ("test/", "examples/")
INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s*["<]([^">]+)[">]')


def violations(root, layers):
    for folder in sorted({layer.split("/")[0] for layer in layers}):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h", ".td"):
                continue
            name = path.relative_to(root).as_posix()
            layer = layer_of(name, layers)
            if layer != path.parent.relative_to(root).as_posix() and folder in ("passes", "codegen"):
                yield f"{name}: expected the folder in docs/architecture/layers.json"
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if match and not allowed(match.group(1), layers[layer], layers):
                    yield f"{name}:{number}: {layer} may not include {match.group(1)}"


def allowed(included, layer, layers):
    if included.startswith(tuple(layer.get("without", ()))):
        return False
    owner = layer_of(included, layers)
    if owner is None:
        return not included.startswith(OUTSIDE)
    stem = included.split(".", 1)[0]
    return owner == layer["folder"] or any(
        name in (owner, included, stem) or included.startswith(name + "/") for name in layer["may_include"]
    )


source = pathlib.Path(sys.argv[1])
found = list(violations(source, read_layers(sys.argv[-1])))
print("\n".join(found) if found else "all includes follow the arrows")
sys.exit(1 if found else 0)
