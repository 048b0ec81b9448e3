// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of resid-opt that its pages and completion show. LLVM's cl::opt parses them, with some hundred more of
// MLIR and LLVM; a test holds this list against what the tool takes.

include "tools/flags/Shared.td"

def grp_files : OptionGroup<"files">, HelpText<"Files">;
def output : OutputFlag<"output (default: standard output)", grp_files>;
def keep_argument_names : Switch<"keep-argument-names", grp_files,
  "keep the names that arguments have in the file, as the attribute resid.name; C headers\n"
  "and manifests use these names">;
def split_input_file : Switch<"split-input-file", grp_files, "run on each part of the file by itself; lines of '// -----' separate them">;
def allow_unregistered_dialect : Switch<"allow-unregistered-dialect", grp_files,
  "accept ops of dialects that are not known">;

def grp_passes : OptionGroup<"passes">, HelpText<"Passes">;
defm pass_pipeline : Value<"pass-pipeline", "PIPELINE", grp_passes,
  "passes to run, as in 'builtin.module(resid-passes{mode=inference},canonicalize)'">;
def list_passes : Switch<"list-passes", grp_passes, "list all passes with their options">;
def show_dialects : Switch<"show-dialects", grp_passes, "list all dialects">;
def mlir_timing : Switch<"mlir-timing", grp_passes, "say on standard error where the time goes">;
def mlir_print_ir_after_all : Switch<"mlir-print-ir-after-all", grp_passes,
  "print the program on standard error after each pass">;
def mlir_print_ir_before_all : Switch<"mlir-print-ir-before-all", grp_passes,
  "print the program on standard error before each pass">;
def mlir_disable_threading : Switch<"mlir-disable-threading", grp_passes, "run passes on one thread">;
def verify_diagnostics : Switch<"verify-diagnostics", grp_passes,
  "compare messages with the comments 'expected-error {{...}}' of the file">;
