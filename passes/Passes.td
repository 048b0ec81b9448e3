// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from resid to resid: flags, options and what each of them keeps. The page docs/passes.md is made from this text.

#ifndef RESID_PASSES_PASSES
#define RESID_PASSES_PASSES

include "passes/raise/Passes.td"
include "passes/rewrite/Passes.td"
include "passes/placement/Passes.td"
include "passes/connection/Passes.td"
include "passes/weights/Passes.td"
include "passes/checks/Passes.td"
include "passes/grad/Passes.td"

#endif
