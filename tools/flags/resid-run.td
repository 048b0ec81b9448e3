// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of resid-run.

include "tools/flags/Machine.td"

def grp_arguments : OptionGroup<"arguments">, HelpText<"Arguments and results">;
defm entry : Value<"entry", "F", grp_arguments, "the function to run (default: the only public one)">;
defm arg : Value<"arg", "ARRAY", grp_arguments,
  "one per argument, in order:\n"
  "  x.npy                    a NumPy file (bfloat16 as <u2 or |V2)\n"
  "  f32[4x512]=random:1      normal values from seed 1\n"
  "  f32[4x512]=random:1*0.1  the same times 0.1\n"
  "  f32[4x512]=0.5           one value everywhere\n"
  "  f32[2x2]=1,2,3,4         all values\n"
  "  i64[8]=random:1%100      integers from 0 to 99\n"
  "  3, 0.5, true             a scalar\n"
  "With --check or --repeat all may be left out: arrays are normal numbers then, integers that name\n"
  "rows of a table or classes are in their range, others are 0; a line on stderr says which --arg they are",
  [Repeatable]>;
defm size : Value<"size", "[NAME=]N", grp_arguments,
  "an open size of arguments that are left out, by its name in the header, such as x_dim0; without a\n"
  "name all others", [Repeatable]>;
defm weights : Value<"weights", "FILE", grp_arguments,
  "a .safetensors or .npz file: the arguments marked resid.weight come from it, by name, and --arg is\n"
  "given for the others only">;
defm weights_prefix : Value<"weights-prefix", "TEXT", grp_arguments,
  "each weight is looked for as TEXT and its name, such as transformer.wte.weight, and where the file\n"
  "has none of that name, as its name alone">;
defm out : Value<"out", "FILE", grp_arguments,
  "one .npy file per result, in order; results without one are summarised", [Repeatable]>;
defm row_padding : Value<"row-padding", "N", grp_arguments,
  "elements between the rows of arrays that are resid.strided (default: 0); the function\n"
  "must not write them">;
def in_place : Switch<"in-place", grp_arguments,
  "each result lies in the buffer of an argument, where the header allows one">;

defm backend : Value<"backend", "KIND", grp_machine,
  "cpu (default): compile and run machine code | cuda: the same on an NVIDIA GPU; --check\n"
  "also asks for the bits of the CPU | reference: run the reference evaluator">,
  Values<"cpu,cuda,reference">;
defm mcpu : Value<"mcpu", "CPU", grp_machine, "what to compile for (default: native); help lists all">;
defm schedule : Value<"schedule", "KEY=VALUE[,...]", grp_machine,
  "how row kernels run, as in residc; no key changes a bit of the results">;
defm relax_rounding : Value<"relax-rounding", "WHAT", grp_machine, RelaxRounding<>.help>, Values<"products">;
defm threads : Value<"threads", "N", grp_machine, "threads to run on, 0 for all processors (default: 1)">;

def grp_program : OptionGroup<"program">, HelpText<"Program">;
defm raise : Value<"raise", "LEVEL", grp_program,
  Resid_RaiseLevel.summary # ",\nas in residc: " # Choices<Resid_RaiseLevel.enumerants, "exact">.text>,
  ValuesOf<Resid_RaiseLevel.enumerants>;

def grp_checks : OptionGroup<"checks">, HelpText<"Checks">;
def check : Switch<"check", grp_checks,
  "compare with the reference evaluator; print the largest error of each result, and fail if\none is beyond its bound">;
def check_EQ : OptionalValue<"check", "wide", grp_checks,
  "compare with an evaluator that rounds nothing on the way, by --rtol and --atol;\n"
  "contractions of arguments and constants by their bound">, Values<"wide">;
defm rtol : Value<"rtol", "R", grp_checks,
  "relative tolerance where no bound holds, such as for a norm after a norm (default: 1e-5;\n"
  "with f16 or bf16 in the function, 4 units in the last place at 1)">;
defm atol : Value<"atol", "A", grp_checks, "absolute tolerance where no bound holds (default: as --rtol)">;

def grp_times : OptionGroup<"times">, HelpText<"Times">;
defm repeat : Value<"repeat", "N", grp_times, "run N more times, print the median time and GB/s of compulsory bytes">;
