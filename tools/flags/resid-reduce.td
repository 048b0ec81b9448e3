// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of resid-reduce.

include "tools/flags/Shared.td"

def grp_reduction : OptionGroup<"reduction">, HelpText<"Reduction">;
def output : OutputFlag<"output (default: standard output)", grp_reduction>;
def output_EQ : Joined<["-"], "o=">, Alias<output>;
defm test : Value<"test", "PROGRAM", grp_reduction,
  "called with the file of each smaller program as its last argument; an exit code other\n"
  "than 0, or a signal, says that the program is still interesting">;
defm test_arg : Value<"test-arg", "ARGUMENT", grp_reduction,
  "an argument of PROGRAM, before the file; may be given several times", [Repeatable, MayBeEmpty]>;
defm passes : Value<"passes", "PIPELINE", grp_reduction,
  "also try what these passes make of the program, as in 'resid-expand-blocks,canonicalize'", [MayBeEmpty]>;
