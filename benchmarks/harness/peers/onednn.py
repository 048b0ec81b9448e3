# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# oneDNN's primitives, through a C++ wrapper that is compiled against its headers where they are found; and of them its layer
# normalization as a peer.

import ctypes
import subprocess

from . import Unavailable, spins
from .. import cases
from ..native import Sequence, address_of, make_call
from ..variants import Variant

SOURCE = cases.FOLDER.parent / "native" / "OneDNN.cpp"


class Wrapper:
    def __init__(self, native, options):
        headers, libraries = options.peers / "include", options.peers / "lib"
        if not (headers / "oneapi" / "dnnl" / "dnnl.hpp").exists():
            raise Unavailable(f"not installed (no headers in {headers.name}/ of the peers' folder)")
        target = options.out / "kernels" / "onednn.so"
        # OpenMP is called by name and not by flag: the runtime has to be the one that oneDNN brings.
        command = [options.cxx, "-std=c++17", "-O2", "-fPIC", "-shared", SOURCE, "-o", target, f"-isystem{headers}",
                   f"-I{SOURCE.parent.parent.parent}", f"-L{libraries}", f"-Wl,-rpath,{libraries.resolve()}", "-ldnnl",
                   "-l:libgomp.so.1"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            raise Unavailable(f"its wrapper does not compile: {run.stderr.strip().splitlines()[0]}")
        self.native, self.functions = native, ctypes.CDLL(str(target))
        for name, result, arguments in (
                ("version", ctypes.c_char_p, []), ("destroy", None, [ctypes.c_void_p]),
                ("create", ctypes.c_void_p, [ctypes.c_int64] * 4 + [ctypes.c_void_p] * 4),
                ("create_product", ctypes.c_void_p, [ctypes.c_int64] * 5 + [ctypes.c_void_p] * 3)):
            function = getattr(self.functions, f"onednn_{name}")
            function.restype, function.argtypes = result, arguments
        self.title = f"oneDNN {self.functions.onednn_version().decode()}"


class Primitive:
    """Destroys what it holds when nobody needs it any more."""

    def __init__(self, functions, address):
        self.functions, self.address = functions, address

    def __del__(self):
        self.functions.onednn_destroy(self.address)


class OneDNN(Wrapper):
    def __init__(self, native, options):
        super().__init__(native, options)
        self.primitives = {}

    def variants(self, case, arrays):
        if case.kernel.name != "layer_norm":
            raise Unavailable("of the kernels here only layer norm is a primitive")
        if case not in self.primitives:
            self.primitives[case] = self.functions.onednn_create(
                case.rows, case.width, cases.SIZES[case.type], case.threads,
                *(arrays[name] for name in ("x", "gamma", "beta", "y")))
        if not self.primitives[case]:
            raise Unavailable("it refuses the primitive")
        call = make_call(address_of(self.functions, "onednn_execute"), [self.primitives[case]])
        return [Variant("onednn", "oneDNN", "peer", Sequence(self.native, [call], case.threads).time, is_close=True,
                        spins=spins(case))]
