# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads .npy files of f32 and f64 and writes those of f32, as plain lists, so that tests need no NumPy.

import array
import ast
import struct


def read(path):
    """The shape and the elements of a little-endian f32 or f64 array."""
    with open(path, "rb") as file:
        if file.read(8) != b"\x93NUMPY\x01\x00":
            raise SystemExit(f"{path}: expected a .npy file of version 1.0")
        header = ast.literal_eval(file.read(struct.unpack("<H", file.read(2))[0]).decode())
        if header["descr"] not in ("<f4", "<f8") or header["fortran_order"]:
            raise SystemExit(f"{path}: expected f32 or f64 in C order but got {header}")
        values = array.array("f" if header["descr"] == "<f4" else "d")
        values.frombytes(file.read())
    return header["shape"], values


def write(path, shape, values):
    header = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(array.array("f", values).tobytes())
