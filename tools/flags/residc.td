// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of residc.

include "dialect/Placement.td"
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
  "--target=cuda: gpu-lanes=auto|2|4|8, gpu-rows=auto|many|1|2|...|128, gpu-weights=reload|registers">;

defm relax_rounding : Value<"relax-rounding", "WHAT", grp_machine, RelaxRounding<>.help>, Values<"products">;

def grp_placement : OptionGroup<"placement">, HelpText<"Norm placement and streams">;
defm placement : Value<"placement", "P", grp_placement,
  "convert the norm placement: " # !interleave(Names<Resid_Placement.enumerants>.all, " | ")>,
  ValuesOf<Resid_Placement.enumerants>;
defm params : Value<"params", "HOW", grp_placement,
  Meanings<!tail(Resid_NormMapping.enumerants)>.text # ";\ndefault: " # !cast<Resid_Choice>(Resid_NormMapping.enumerants[0]).help>,
  ValuesOf<!tail(Resid_NormMapping.enumerants)>;
defm final_norm : Value<"final-norm", "WHAT", grp_placement,
  Resid_FinalNormSource.summary # ":\n" # Meanings<Resid_FinalNormSource.enumerants, "args">.text>,
  ValuesOf<Resid_FinalNormSource.enumerants>;
defm streams : Value<"streams", "N", grp_placement,
  "convert to N residual streams that compute the same function at the initial values of\n"
  "the new parameters: 2 to 16; 1 converts back where the connection is static">;
defm connection : Value<"connection", "KIND", grp_placement,
  "how sub-layers are connected to --streams:\n" # Meanings<Resid_ConnectionKind.enumerants, "static">.text>,
  ValuesOf<Resid_ConnectionKind.enumerants>;
defm manifest : Value<"manifest", "FILE", grp_placement,
  "write as JSON what became of each norm parameter, and which parameters of streams are new">;

def grp_gradients : OptionGroup<"gradients">, HelpText<"Gradients">;
defm grad : Value<"grad", "FUNC", grp_gradients, "also make FUNC_forward and FUNC_backward, which compute gradients">;
defm wrt : Value<"wrt", "N[,N...]", grp_gradients,
  "arguments of FUNC whose gradients are made, counted from 0; default: all float tensors">;
defm grad_mode : Value<"grad-mode", "MODE", grp_gradients,
  Meanings<Resid_GradMode.enumerants, "split">.text>, ValuesOf<Resid_GradMode.enumerants>;
defm save : Value<"save", "WHAT", grp_gradients,
  "what FUNC_forward saves for FUNC_backward:\n" # Meanings<Resid_GradSave.enumerants, "default">.text>,
  ValuesOf<Resid_GradSave.enumerants>;

def grp_program : OptionGroup<"program">, HelpText<"Program">;
defm mode : Value<"mode", "MODE", grp_program,
  Meanings<Resid_ProgramMode.enumerants, "training">.text # "; seed and step\nstay in the signature and are ignored">,
  ValuesOf<Resid_ProgramMode.enumerants>;
defm raise : Value<"raise", "LEVEL", grp_program,
  Resid_RaiseLevel.summary # ",\nin linalg, arith and math:\n" # Meanings<Resid_RaiseLevel.enumerants, "exact">.text # ",\nwith a remark each">,
  ValuesOf<Resid_RaiseLevel.enumerants>;
defm prefix : Value<"prefix", "NAME", grp_program, "put NAME before every exported function", [MayBeEmpty]>;
def weights_struct : Switch<"weights-struct", grp_program,
  "functions take the arguments marked resid.weight in one struct, F_weights">;
def pack_weights : Switch<"pack-weights", grp_program,
  "functions take the weights of products in panels, which FUNC_prepare makes of them once">;
def werror : Switch<"werror", grp_program, "warnings are errors">;

def grp_reports : OptionGroup<"reports">, HelpText<"Reports">;
def report : Switch<"report", grp_reports,
  "list the kernels on standard error: what was fused and what not, with reasons; bytes read\nand written; schedules">;
def report_EQ : OptionalValue<"report", "FILE", grp_reports, "write the report as JSON">;
defm dump_stages : Value<"dump-stages", "DIR", grp_reports,
  "write the program after each stage to DIR: 00-input.mlir, ..., its LLVM IR and assembly">;
def time : Switch<"time", grp_reports, "say on standard error where the time goes">;
