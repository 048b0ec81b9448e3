# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# An RMS norm as Liger's, and a layer norm that is wrong.

from torch.nn import functional


def liger_fused_add_rms_norm(x, residual, gamma, epsilon, offset=0.0, casting_mode="llama", in_place=True):
    assert not in_place
    s = x + residual
    return functional.rms_norm(s, s.shape, gamma, epsilon), s


def liger_layer_norm(x, gamma, beta, epsilon):
    return functional.layer_norm(x + x, x.shape, gamma, gamma, epsilon)
