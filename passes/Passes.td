// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from resid to resid: flags, options and what each of them keeps. The page docs/passes.md is made from this text.

#ifndef RESID_PASSES_PASSES
#define RESID_PASSES_PASSES

include "passes/BlockPasses.td"
include "passes/FlatPasses.td"
include "passes/WeightPasses.td"

#endif
