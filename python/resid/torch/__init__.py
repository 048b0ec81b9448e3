# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""resid in PyTorch: ops from compiled functions, modules, and a pass that puts resid's kernels into a model.

Importing it needs PyTorch. The page docs/pytorch.md begins with five minutes of examples.
"""

from .attention import attention
from .functional import dropout, dropout_add, dropout_add_norm, layer_norm, rms_norm
from .modules import DropoutAddNorm, DropoutState, LayerNorm, QuantizedLinear, ResidualBlock, RMSNorm
from .backend import GraphReport, compile, explain, report
from .backend import register as _register_backend
from .capture import optimize
from .register import register
from .streams import HyperConnection, HyperHead

_register_backend()

__all__ = ["DropoutAddNorm", "DropoutState", "GraphReport", "HyperConnection", "HyperHead", "LayerNorm", "QuantizedLinear", "RMSNorm",
           "ResidualBlock", "attention", "compile", "dropout", "dropout_add", "dropout_add_norm", "explain", "layer_norm", "optimize",
           "register", "report", "rms_norm"]
