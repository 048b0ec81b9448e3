// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of tools that compile for a machine.

#ifndef RESID_TOOLS_FLAGS_MACHINE_TD
#define RESID_TOOLS_FLAGS_MACHINE_TD

include "tools/flags/Shared.td"

def grp_machine : OptionGroup<"machine">, HelpText<"Machine">;
def verbose : Flag<["-"], "v">, Group<grp_machine>,
  HelpText<"print the version, and the machine and CPU that are compiled for, on standard error;\nwithout an input, do only that">;

// Of tools that compile for GPUs too.
class RelaxRounding {
  string help = "products: matrix units of GPUs may add up products of f16 and bf16, with the order and the\n"
                "roundings of the chip; results then have a bound, and not the bits of the CPU. CPUs ignore it";
}

#endif // RESID_TOOLS_FLAGS_MACHINE_TD
