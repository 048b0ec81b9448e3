# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
def rmsnorm(x, gamma, residual=None, eps=1e-6, prenorm=False):
    raise RuntimeError("no kernel for this chip, or another")
