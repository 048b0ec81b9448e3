// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All op families in one TableGen run.

include "dialect/Residual.td"
include "dialect/Norm.td"
include "dialect/Dropout.td"
include "dialect/Fused.td"
include "dialect/Block.td"
include "dialect/Attention.td"
include "dialect/SubLayers.td"
include "dialect/Grad.td"
include "dialect/ScalarGrad.td"
include "dialect/AttentionGrad.td"
include "dialect/BatchNorm.td"
include "dialect/Tokens.td"
include "dialect/Streams.td"
include "dialect/Quantize.td"
