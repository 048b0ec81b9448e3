// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/flags/Tool.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::tools {

void ToolDescription::printHelp(llvm::raw_ostream &stream) const {
  flags->printHelp(stream, usage, (llvm::Twine(name) + ": " + overview).str().c_str());
  if (*details)
    stream << "\n" << details << "\n";
  stream << "\nexamples:\n" << examples << "\nexit codes: " << exitCodes << "\n";
}

void ToolDescription::printVersion(llvm::raw_ostream &stream) const {
  stream << name << " " RESID_TOOL_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}

bool ToolDescription::printAsked(bool help, bool version) const {
  if (help)
    printHelp(llvm::outs());
  else if (version)
    printVersion(llvm::outs());
  return help || version;
}

namespace residc {
#define FLAGS "tools/flags/residc.inc"
#include "tools/flags/Table.inc"
const ToolDescription tool = {
    "residc",
    "compiles residual blocks, written in MLIR, to fused kernels",
    "residc IN.mlir [-o OUT] [flags]",
    "IN.mlir may be '-' for standard input, and each output '-' for standard output.",
    R"(  residc block.mlir -o block.o --header=block.h
  residc block.mlir --emit=asm -o - --mcpu=x86-64-v4
  residc block.mlir -o block.o --header=block.h --mcpu=x86-64-v2,x86-64-v3,x86-64-v4
  residc block.mlir -o block.svg
  residc post.mlir --placement=pre --manifest=pre.json -o pre.o --header=pre.h
  residc block.mlir -o block.o --dump-stages=stages
  residc block.mlir --mode=inference --prefix=inference_ -o inference.o --header=inference.h
)",
    R"(0 done, 1 the program is wrong, 2 wrong flags, 3 a file cannot be read or written, 4 valid but not
available on the target, 5 out of memory, 70 a mistake in residc (with a file that reproduces it))",
    getFlags()};
} // namespace residc

namespace resid_run {
#define FLAGS "tools/flags/resid-run.inc"
#include "tools/flags/Table.inc"
const ToolDescription tool = {
    "resid-run",
    "compiles a function in memory and runs it on arrays",
    "resid-run IN.mlir [--entry=F] --arg=ARRAY ... [--out=FILE.npy ...] [flags]",
    "IN.mlir may be '-' for standard input. Quote arrays: brackets and stars mean something to a shell.",
    R"(  resid-run block.mlir --entry=post_norm --arg=x.npy --arg=f.npy --arg=gamma.npy --arg=beta.npy --arg=1 --arg=0 --out=y.npy
  resid-run block.mlir '--arg=f32[32x768]=random:1' '--arg=f32[32x768]=random:2' --check
  resid-run block.mlir '--arg=bf16[4096x768]=random:1' '--arg=bf16[768]=1' --repeat=100 --threads=0
)",
    R"(0 done, 1 the program or its arguments are wrong or a check failed, 2 wrong flags or argument count,
3 a file cannot be read or written, 4 not available on this target or backend, 5 out of memory, 70 a mistake in resid-run
(with a file that reproduces it))",
    getFlags()};
} // namespace resid_run

namespace resid_tune {
#define FLAGS "tools/flags/resid-tune.inc"
#include "tools/flags/Table.inc"
const ToolDescription tool = {
    "resid-tune",
    "measures which schedule is fastest on this machine, and writes it to a file",
    "resid-tune IN.mlir [--shapes=SIZES] [-o FILE] [flags]",
    "IN.mlir may be '-' for standard input. The file is for residc --schedule=@FILE; it changes no bit of a result.",
    R"(  resid-tune block.mlir --shapes=32x768,4096x768 -o tuned.schedule
  residc block.mlir -o block.o --schedule=@tuned.schedule
  resid-tune --table --seconds=600 -o tuned.schedule
  resid-tune block.mlir --shapes=4096x768 --mcpu=x86-64-v3 --keys=stores,prefetch,prefetch-bytes
)",
    R"(0 done, 1 the program is wrong or refuses its arguments, 2 wrong flags or a wrong schedule file, 3 a file
cannot be read or written, 4 not available on this target, 5 out of memory, 70 a mistake in resid-tune (with a file that
reproduces it))",
    getFlags()};
} // namespace resid_tune

namespace resid_reduce {
#define FLAGS "tools/flags/resid-reduce.inc"
#include "tools/flags/Table.inc"
const ToolDescription tool = {
    "resid-reduce",
    "makes a program in MLIR smaller as long as a test finds it interesting",
    "resid-reduce IN.mlir --test=PROGRAM [flags]",
    "IN.mlir may be '-' for standard input, and the output '-' for standard output, which is the default.",
    R"(  resid-reduce crash.mlir --test=./fails.sh -o small.mlir
  resid-reduce crash.mlir --test=./fails.sh --passes=resid-expand-add-norm,symbol-dce

where fails.sh may be, for a program that resid-opt fails on with exit code 70:
  #!/bin/sh
  resid-opt "$1" --canonicalize; test $? != 70
)",
    R"(0 done, 1 the program is wrong or not interesting to begin with, 2 wrong flags, 3 a file cannot be read
or written, 5 out of memory, 70 a mistake in resid-reduce (with a file that shows it again))",
    getFlags()};
} // namespace resid_reduce

namespace resid_lsp_server {
#define FLAGS "tools/flags/resid-lsp-server.inc"
#include "tools/flags/Table.inc"
const ToolDescription tool = {
    "resid-lsp-server",
    "diagnostics, hover, definitions and completion of programs in MLIR, in the editor",
    "resid-lsp-server [flags]",
    "An editor starts it and speaks the language server protocol over its standard input and output;\n"
    "docs/editor.md says how to set editors up.",
    R"(  resid-lsp-server                             what an editor runs
  resid-lsp-server --log=verbose 2> log.txt    the same, with what was received and sent in a file
  resid-lsp-server --lit-test < session.txt    a session by hand
)",
    R"(0 the editor said goodbye (shutdown, exit), 1 it ended without, 2 wrong flags, 5 out of memory,
70 a mistake in resid-lsp-server or in MLIR)",
    getFlags()};
} // namespace resid_lsp_server

namespace resid_opt {
#define FLAGS "tools/flags/resid-opt.inc"
#include "tools/flags/Table.inc"
const ToolDescription tool = {
    "resid-opt",
    "single passes and pipelines on a program in MLIR",
    "resid-opt [IN.mlir] [-o OUT] [passes and flags]",
    "Without IN.mlir, or with '-', the program comes from standard input. Each pass is a flag, as in\n"
    "--resid-fuse-add-norm, and its options follow '='. --help lists the passes of resid first, then everything\n"
    "that comes from MLIR and LLVM.",
    R"(  resid-opt block.mlir --resid-fuse-add-norm
  resid-opt post.mlir --resid-form-blocks --resid-convert-norm-placement=to=pre --mlir-timing
  resid-opt block.mlir --pass-pipeline='builtin.module(resid-passes{mode=inference},canonicalize)' -o passed.mlir
)",
    R"(0 done, 1 the program is wrong, 2 wrong flags, 3 a file cannot be read or written, 5 out of memory,
70 a mistake in resid-opt (with a file that shows it again))",
    getFlags()};
} // namespace resid_opt

} // namespace mlir::resid::tools
