// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect outside of resid whose op takes what resid's ops take.

#ifndef MARK_OPS
#define MARK_OPS

include "dialect/ResidBase.td"

def Mark_Dialect : Dialect {
  let name = "mark";
  let cppNamespace = "::mark";
}

def Mark_HereOp : Op<Mark_Dialect, "here", [SameOperandsAndResultType, Pure]> {
  let summary = "Names a place in the residual stream";
  let arguments = (ins Resid_Rows:$stream, StrAttr:$name);
  let results = (outs Resid_Rows:$result);
  let assemblyFormat = "$stream $name attr-dict `:` type($stream)";
}

#endif
