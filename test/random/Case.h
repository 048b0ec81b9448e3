// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program with an order of rewrites as a file that can be run again: an .mlir text whose first lines say how.

#ifndef RESID_TEST_RANDOM_CASE_H
#define RESID_TEST_RANDOM_CASE_H

#include "test/random/Check.h"

namespace mlir::resid::random {

struct Case {
  Program program;
  PassOrder order;
};

/// The text of a case; each line of `notes` becomes a comment.
std::string printCase(const Program &program, ArrayRef<const PassEntry *> order, StringRef notes);

/// Reads a file with the lines
///   // passes: expand-blocks cse
///   // entry: main --arg=f32[2x3]=random:1 --arg=7
/// (one entry each), which may stand anywhere. None after a message was printed.
std::optional<Case> readCase(MLIRContext &context, StringRef path);

/// The passes of this list of names, separated by `separator`. None after a message was printed.
std::optional<PassOrder> parseOrder(StringRef names, char separator);

} // namespace mlir::resid::random

#endif // RESID_TEST_RANDOM_CASE_H
