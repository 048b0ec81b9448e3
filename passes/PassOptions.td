// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes' descriptions share: the options that several of them have.

#ifndef RESID_PASSES_PASSOPTIONS
#define RESID_PASSES_PASSOPTIONS

include "mlir/Pass/PassBase.td"

class ReportOption : Option<"report", "report", "bool", /*default=*/"false",
                            "emit a remark where the pass rewrites, with its class, and where it refuses, with the reason">;

#endif
