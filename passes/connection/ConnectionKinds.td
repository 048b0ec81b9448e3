// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of connections to several streams, for the pass and for the flags of the tools. Their parameters stand in
// Connections.cpp.

#ifndef RESID_PASSES_CONNECTION_CONNECTIONKINDS
#define RESID_PASSES_CONNECTION_CONNECTIONKINDS

include "mlir/IR/EnumAttr.td"

class Resid_Connection<string symbol, int value, string name, string what>
    : I32EnumAttrCase<symbol, value, name> {
  string help = what;
}

def Resid_ConnectionKind : I32EnumAttr<"ConnectionKind", "how sub-layers are connected to several streams", [
  Resid_Connection<"Static", 0, "static", "parameters">,
  Resid_Connection<"Gated", 1, "gated", "a gate for each stream and feature">,
  Resid_Connection<"IHC", 2, "ihc", "read and write from all streams">,
  Resid_Connection<"MHC", 3, "mhc", "the same, and a doubly stochastic mix">]> {
  let cppNamespace = "::mlir::resid";
  let genSpecializedAttr = 0;
}

#endif
