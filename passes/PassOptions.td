// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes' descriptions share: the options that several of them have.

#ifndef RESID_PASSES_PASSOPTIONS
#define RESID_PASSES_PASSOPTIONS

include "mlir/Pass/PassBase.td"
include "passes/Choices.td"

class ReportOption : Option<"report", "report", "bool", /*default=*/"false",
                            "emit a remark where the pass rewrites, with its class, and where it refuses, with the reason">;

// One of the cases of `choices`; `default` is its symbol.
class ChoiceOption<string cppName, string argument, Resid_Choices choices, string default, string help = choices.summary>
    : Option<cppName, argument, "::mlir::resid::" # choices.className,
             "::mlir::resid::" # choices.className # "::" # default, help,
             "::llvm::cl::values(" # !interleave(!foreach(case, choices.enumerants,
               "clEnumValN(::mlir::resid::" # choices.className # "::" # case.symbol # ", \"" # case.str # "\", \"" #
               !cast<Resid_Choice>(case).help # "\")"), ", ") # ")">;

#endif
