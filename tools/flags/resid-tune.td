// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of resid-tune.

include "tools/flags/Machine.td"

def grp_files : OptionGroup<"files">, HelpText<"Files">;
def output : OutputFlag<"schedule file (default: standard output); sections of other CPUs that it has are kept", grp_files>;
def output_EQ : Joined<["-"], "o=">, Alias<output>;

defm mcpu : Value<"mcpu", "NAME", grp_machine, "CPU to compile for, which this machine must be able to run: native (default),\nx86-64-v3 ...">;
defm threads : Value<"threads", "N", grp_machine, "threads that a call may use; 0: as many as there are processors; default: 1">;

def grp_search : OptionGroup<"search">, HelpText<"Search">;
defm shapes : Value<"shapes", "SIZES[,...]", grp_search,
  "sizes of the largest arguments, as in 32x768,4096x768; smaller tensors take equal or the\nlast sizes">;
def table : Switch<"table", grp_search, "measure the kernels of the benchmarks, with sizes of their own, instead of a program">;
defm entry : Value<"entry", "F", grp_search, "measure this function alone; default: all public ones">;
defm mode : Value<"mode", "MODE", grp_search, Meanings<Resid_ProgramMode.enumerants, "training">.text>,
  ValuesOf<Resid_ProgramMode.enumerants>;
defm keys : Value<"keys", "KEY[,...]", grp_search, "try these keys of the schedule only; default: all">;
defm seconds : Value<"seconds", "N", grp_search, "stop after about this long; default: 60">;
def no_readers : Switch<"no-readers", grp_search,
  "do not read the results after each call, as a program would">;
