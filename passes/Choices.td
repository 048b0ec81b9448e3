// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user chooses among where a program is rewritten, differentiated or compiled: one list for the options of passes,
// the flags of tools and the help of both. The parameters of a connection stand in connection/Connections.cpp.

#ifndef RESID_PASSES_CHOICES
#define RESID_PASSES_CHOICES

include "mlir/IR/EnumAttr.td"

class Resid_Choice<string symbol, int value, string name, string what> : I32EnumCase<symbol, value, name> {
  string help = what;
}

class Resid_Choices<string name, string summary, list<Resid_Choice> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::mlir::resid";
}

def Resid_ConnectionKind : Resid_Choices<"ConnectionKind", "how sub-layers are connected to several streams", [
  Resid_Choice<"Static", 0, "static", "parameters">,
  Resid_Choice<"Gated", 1, "gated", "a gate for each stream and feature">,
  Resid_Choice<"IHC", 2, "ihc", "read and write from all streams">,
  Resid_Choice<"MHC", 3, "mhc", "the same, and a doubly stochastic mix">]>;

def Resid_NormMapping : Resid_Choices<"NormMapping", "which norm each sub-layer has after a conversion", [
  Resid_Choice<"Auto", 0, "auto", "shift between post and post_shifted, where it is bit-exact, else keep">,
  Resid_Choice<"Keep", 1, "keep", "each sub-layer keeps its norm">,
  Resid_Choice<"Shift", 2, "shift", "norms move to the neighbouring sub-layer">]>;

def Resid_FinalNormSource : Resid_Choices<"FinalNormSource", "a final norm that the placement wants but the program lacks", [
  Resid_Choice<"Arguments", 0, "args", "has new arguments">,
  Resid_Choice<"Identity", 1, "identity", "is not added">]>;

def Resid_RaiseLevel : Resid_Choices<"RaiseLevel", "what becomes ops of resid, of layers that are written out", [
  Resid_Choice<"Off", 0, "off", "nothing">,
  Resid_Choice<"Exact", 1, "exact", "what has the same bits">,
  Resid_Choice<"All", 2, "all", "also what is the same in real arithmetic">]>;

def Resid_GradMode : Resid_Choices<"GradMode", "what differentiation makes", [
  Resid_Choice<"Split", 0, "split", "FUNC_forward and FUNC_backward">,
  Resid_Choice<"ValueAndGrad", 1, "value-and-grad", "one function, FUNC_value_and_grad">]>;

def Resid_GradSave : Resid_Choices<"GradSave", "what the forward saves for the backward", [
  Resid_Choice<"Min", 0, "min", "only carries of loops; the rest is computed again">,
  Resid_Choice<"Default", 1, "default", "values that are expensive to compute again">,
  Resid_Choice<"All", 2, "all", "whatever is read">]>;

def Resid_ProgramMode : Resid_Choices<"ProgramMode", "what a program is compiled for", [
  Resid_Choice<"Training", 0, "training", "dropout as written">,
  Resid_Choice<"Inference", 1, "inference", "dropout removed">]>;

#endif
