// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of resid-reduce.

include "tools/flags/Shared.td"

def grp_reduction : OptionGroup<"reduction">, HelpText<"Reduction">;
def output : OutputFlag<"output (default: standard output)", grp_reduction>;
def output_EQ : Joined<["-"], "o=">, Alias<output>;
defm test : Value<"test", "PROGRAM", grp_reduction,
  "run on each smaller program, whose file is its last argument; an exit code other than 0 says\n"
  "that it is interesting still, and so does a signal">;
defm test_arg : Value<"test-arg", "ARGUMENT", grp_reduction,
  "an argument of PROGRAM, before the file; as often as needed", [Repeatable, MayBeEmpty]>;
defm passes : Value<"passes", "PIPELINE", grp_reduction,
  "also try what these passes make of it, as in 'resid-expand-blocks,canonicalize'", [MayBeEmpty]>;
