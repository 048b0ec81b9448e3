# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Peers that leave out keys.

import math

from ..peers import pytorch, timed
from ..products.peers import bytes_at
from ..variants import Variant


class PyTorch:
    """Attention by a boolean mask, and flex_attention compiled, which skips blocks."""

    def __init__(self, side, options):
        self.torch = pytorch.load(options)
        pytorch.keep_freed_memory()
        pytorch.enter_inference_mode(self.torch)
        self.title = f"PyTorch {self.torch.__version__}"

    def ways(self, arrays, shape, see, threads):
        """`see`: of numbers of queries and of keys, whether they meet; for tensors."""
        from torch.nn.attention import flex_attention
        torch = self.torch
        torch.set_num_threads(threads)
        count = 4 * math.prod(shape)
        q, k, v = (torch.frombuffer(bytes_at(arrays[name], count), dtype=torch.float32).view(shape) for name in "qkv")
        positions = torch.arange(shape[2])
        mask = see(positions[:, None], positions[None])
        blocks = flex_attention.create_block_mask(lambda b, h, i, j: see(i, j), None, None, shape[2], shape[2], device="cpu")
        flex = torch.compile(flex_attention.flex_attention, dynamic=False)
        masked = torch.nn.functional.scaled_dot_product_attention
        for title, run in (("scaled_dot_product_attention by a mask", lambda: masked(q, k, v, mask)),
                           ("flex_attention compiled", lambda: flex(q, k, v, block_mask=blocks))):
            yield title, Variant(title, title, "peer", timed(run, threads))
