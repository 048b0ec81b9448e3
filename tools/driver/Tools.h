// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main functions of the tools that are one program with several names. Each is called with the command line of its
// tool and gives the exit code; Driver.cpp knows which name calls which.

#ifndef RESID_TOOLS_DRIVER_TOOLS_H
#define RESID_TOOLS_DRIVER_TOOLS_H

namespace mlir::resid::tools {

int residcMain(int argc, char **argv);
int residRunMain(int argc, char **argv);
int residTuneMain(int argc, char **argv);
int residReduceMain(int argc, char **argv);
int residLspServerMain(int argc, char **argv);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_DRIVER_TOOLS_H
