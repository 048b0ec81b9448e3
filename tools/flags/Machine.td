// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of tools that compile for a machine.

#ifndef RESID_TOOLS_FLAGS_MACHINE_TD
#define RESID_TOOLS_FLAGS_MACHINE_TD

include "tools/flags/Shared.td"

def grp_machine : OptionGroup<"machine">, HelpText<"Machine">;
def verbose : Flag<["-"], "v">, Group<grp_machine>,
  HelpText<"say on standard error which version this is and which machine and CPU it compiles\nfor; ends there without an input">;

#endif // RESID_TOOLS_FLAGS_MACHINE_TD
