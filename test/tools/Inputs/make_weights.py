# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# make_weights.py OUT NAME=TYPE[SIZES]:START …: writes a safetensors file by its published format, and by no code of resid. Each
# tensor holds START, START+1, … as BF16, F16, F32, F64, I64 or U8. With --extra=TEXT, the header's last entry is TEXT as it stands.

import json
import pathlib
import struct
import sys

FORMS = {"F16": "<e", "F32": "<f", "F64": "<d", "I64": "<q", "U8": "<B"}


def encode(kind, value):
    if kind == "BF16":
        return struct.pack("<f", value)[2:]
    return struct.pack(FORMS[kind], value)


def main():
    extra = "".join("," + argument[len("--extra="):] for argument in sys.argv[2:] if argument.startswith("--extra="))
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for argument in sys.argv[2:]:
        if argument.startswith("--extra="):
            continue
        name, _, rest = argument.partition("=")
        kind, _, rest = rest.partition("[")
        sizes, _, start = rest.partition("]:")
        shape = [int(size) for size in sizes.split("x") if size]
        count = 1
        for size in shape:
            count *= size
        values = b"".join(encode(kind, int(start) + index) for index in range(count))
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = (json.dumps(header, ensure_ascii=False)[:-1] + extra + "}").encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(sys.argv[1]).write_bytes(struct.pack("<Q", len(text)) + text + data)


main()
