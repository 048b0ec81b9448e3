# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ways to compute attention, each with something that times it: compiled by resid, and peers.

from . import cases
from ..compiled import Unavailable
from ..native import Sequence, address_of, make_call
from ..peers import pytorch, spins, timed
from ..products.peers import bytes_at
from ..variants import Variant

# Module and class of each, for peers.find.
PEERS = (("ways", "PyTorch"),)


class Ways:
    """All ways of one process; asks each for its variants of a case."""

    def __init__(self, native, arrays, libraries, peers):
        self.native, self.arrays, self.libraries, self.peers = native, arrays, libraries, peers
        self.reasons = []

    def variants(self, case):
        found = [self.compiled(case, path, library) for path, library in self.libraries]
        for peer in self.peers:
            try:
                found += peer.variants(case, self.arrays)
            except Unavailable as reason:
                self.reasons.append((peer.title, str(reason)))
        return found

    def compiled(self, case, path, library):
        call = make_call(address_of(library, cases.function_name(case)),
                         [self.native.context(case.threads, lends_memory=True), *(self.arrays[name] for name in "qkvy")])
        return Variant(path.name, path.title, "resid", Sequence(self.native, [call], case.threads).time, is_exact=True)


class PyTorch:
    """scaled_dot_product_attention, which chooses among its kernels."""

    def __init__(self, native, options):
        self.torch = pytorch.load(options)
        pytorch.keep_freed_memory()
        pytorch.enter_inference_mode(self.torch)
        self.title = f"PyTorch {self.torch.__version__}"

    def variants(self, case, arrays):
        self.torch.set_num_threads(case.threads)
        kind = {"f32": self.torch.float32, "bf16": self.torch.bfloat16}[case.type]

        def tensor(name):
            array = self.torch.frombuffer(bytes_at(arrays[name], case.bytes_of(name)), dtype=kind)
            heads, positions = (case.key_heads, case.keys) if name in ("k", "v") else (case.heads, case.queries)
            return array.view(1, heads, positions, case.head_size)
        q, k, v, y = map(tensor, ("q", "k", "v", "y"))

        def run():
            return self.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=case.is_causal,
                                                                         enable_gqa=case.key_heads != case.heads)
        yield Variant("pytorch", "PyTorch", "peer", timed(run, case.threads), is_close=True, spins=spins(case),
                      fetch=lambda: y.copy_(run()))
