// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands for --arg where a function is checked or timed and none is given. Fills no arrays (Arrays.h).

#ifndef RESID_TOOLS_RESID_RUN_MADEARGUMENTS_H
#define RESID_TOOLS_RESID_RUN_MADEARGUMENTS_H

#include "tools/resid-run/Arrays.h"

namespace mlir::resid::run {

/// Whether arguments are made: what is computed does not matter then, but that it is right, or how long it takes.
bool makesArguments(const Options &options);

/// The text of an --arg for each argument that is not `known` from a file: normal numbers of the sizes that the types
/// and --size say, integers that name a row or a class from 0 on, and 0 for others. They are told to `stream`.
llvm::Expected<std::vector<std::string>> makeArguments(const Options &options, func::FuncOp function,
                                                       llvm::ArrayRef<std::optional<Array>> known,
                                                       llvm::raw_ostream &stream);

} // namespace mlir::resid::run

#endif
