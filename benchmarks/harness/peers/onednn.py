# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# oneDNN's layer normalization, through a C++ wrapper that is compiled against its headers where they are found.

import ctypes
import subprocess

from . import Unavailable, settle_time
from .. import cases
from ..native import Sequence, address_of, make_call
from ..variants import Variant

SOURCE = cases.FOLDER.parent / "native" / "OneDNN.cpp"


class OneDNN:
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
        self.functions.onednn_version.restype = ctypes.c_char_p
        self.functions.onednn_create.restype = ctypes.c_void_p
        self.functions.onednn_create.argtypes = [ctypes.c_int64] * 4 + [ctypes.c_void_p] * 4
        self.title = f"oneDNN {self.functions.onednn_version().decode()}"
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
                        settle=settle_time(case))]
