// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of residc.

include "dialect/Placement.td"
include "passes/connection/ConnectionKinds.td"
include "tools/flags/Machine.td"

def grp_files : OptionGroup<"files">, HelpText<"Files">;
def output : OutputFlag<"output; default: IN with the suffix of what is emitted", grp_files>;
def output_EQ : Joined<["-"], "o=">, Alias<output>;
defm emit : Value<"emit", "KIND", grp_files,
  "obj | shared | asm | llvm | ptx | mlir | svg | header; default: by the suffix of the output\n"
  "(.o .so .s .ll .ptx .mlir .svg .h), else obj; svg draws the residual streams">,
  Values<"obj,shared,asm,llvm,ptx,mlir,svg,header">;
def assembly : Flag<["-"], "S">, Alias<emit>, AliasArgs<["asm"]>, Group<grp_files>, HelpText<"the same as --emit=asm">;
defm header : Value<"header", "FILE", grp_files, "also write the C header of the functions">;
defm depfile : Value<"depfile", "FILE", grp_files, "also write a dependency file for make and ninja">;

defm mcpu : Value<"mcpu", "NAME[,NAME...]", grp_machine,
  "CPU to compile for: native (default), x86-64-v3, x86-64-v4, znver4 ...; help lists all. With\n"
  "several (x86-64 only), the first call chooses the best one for the processor">;
defm mtriple : Value<"mtriple", "TRIPLE", grp_machine, "machine to compile for; default: this one">;
defm target : Value<"target", "KIND", grp_machine, "what kernels run on: cpu (default) | cuda: NVIDIA GPUs">,
  Values<"cpu,cuda">;
defm chip : Value<"chip", "NAME[,NAME...]", grp_machine,
  "GPUs to compile for with --target=cuda: sm_80 (default), sm_90 ...; a later chip runs the code\nof an earlier one">;
def cubin : Switch<"cubin", grp_machine,
  "with --target=cuda: machine code beside the PTX of each chip, by NVIDIA's ptxas, so that the driver has\nnothing to compile">;
defm schedule : Value<"schedule", "KEY=VALUE[,...]|@FILE", grp_machine,
  "how row kernels run; no key changes a bit of the results: path=vector|scalar,\n"
  "stores=auto|plain|nontemporal, prefetch=auto|off|on, rows=auto|single|pipelined|batched,\n"
  "local-rows=auto|off|on, vector-bits=auto|128|256|512; @FILE: as resid-tune found them; with\n"
  "--target=cuda: gpu-lanes=auto|2|4|8, gpu-rows=auto|1|2|...|128, gpu-weights=reload|registers">;

def grp_placement : OptionGroup<"placement">, HelpText<"Norm placement and streams">;
defm placement : Value<"placement", "P", grp_placement,
  "convert the norm placement: " # !interleave(Names<Resid_Placement>.all, " | ")>,
  ValuesOf<Resid_Placement>;
defm params : Value<"params", "HOW", grp_placement,
  "keep: each sub-layer keeps its norm | shift: norms move to the neighbouring sub-layer;\n"
  "default: shift between post and post_shifted, where it is bit-exact, else keep">, Values<"keep,shift">;
defm final_norm : Value<"final-norm", "WHAT", grp_placement,
  "a final norm that the placement wants and IN does not have: args (default) gives it new\narguments | identity adds none">,
  Values<"args,identity">;
defm streams : Value<"streams", "N", grp_placement,
  "convert to N residual streams that compute the same function at the initial values of\n"
  "the new parameters: 2 to 16; 1 converts back where the connection is static">;
defm connection : Value<"connection", "KIND", grp_placement,
  "how sub-layers are connected to --streams: " # DefaultFirst<Resid_ConnectionKind>.text>,
  ValuesOf<Resid_ConnectionKind>;
defm manifest : Value<"manifest", "FILE", grp_placement,
  "write as JSON what became of each norm parameter, and which parameters of streams are new">;

def grp_gradients : OptionGroup<"gradients">, HelpText<"Gradients">;
defm grad : Value<"grad", "FUNC", grp_gradients, "also make FUNC_forward and FUNC_backward, which compute gradients">;
defm wrt : Value<"wrt", "N[,N...]", grp_gradients,
  "arguments of FUNC whose gradients are made, counted from 0; default: all float tensors">;
defm grad_mode : Value<"grad-mode", "MODE", grp_gradients,
  "split (default) | value-and-grad: makes one function, FUNC_value_and_grad">, Values<"split,value-and-grad">;
defm save : Value<"save", "WHAT", grp_gradients,
  "what FUNC_forward saves for FUNC_backward: default: values that are expensive to compute again | min:\n"
  "only carries of loops, the rest is computed again | all: whatever is read">, Values<"min,default,all">;

def grp_program : OptionGroup<"program">, HelpText<"Program">;
defm mode : Value<"mode", "MODE", grp_program,
  "training (default) | inference: removes dropout; seed and step stay in the signature and\nare ignored">,
  Values<"training,inference">;
defm raise : Value<"raise", "LEVEL", grp_program,
  "what becomes ops of resid, of layers that are written out in linalg, arith\n"
  "and math: exact (default): what has the same bits | all: also what is the same in real\n"
  "arithmetic, with a remark each | off">, Values<"off,exact,all">;
defm prefix : Value<"prefix", "NAME", grp_program, "put NAME before every exported function", [MayBeEmpty]>;
def weights_struct : Switch<"weights-struct", grp_program,
  "functions take the arguments marked resid.weight in one struct, F_weights">;
def werror : Switch<"werror", grp_program, "warnings are errors">;

def grp_reports : OptionGroup<"reports">, HelpText<"Reports">;
def report : Switch<"report", grp_reports,
  "list the kernels on standard error: what was fused and what not, with reasons; bytes read\nand written; schedules">;
def report_EQ : OptionalValue<"report", "FILE", grp_reports, "write the report as JSON">;
defm dump_stages : Value<"dump-stages", "DIR", grp_reports,
  "write the program after each stage to DIR: 00-input.mlir, ..., its LLVM IR and assembly">;
def time : Switch<"time", grp_reports, "say on standard error where the time goes">;
