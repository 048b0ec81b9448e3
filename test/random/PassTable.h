// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewrites that are tried, with what each of them promises: the one place to add one.

#ifndef RESID_TEST_RANDOM_PASSTABLE_H
#define RESID_TEST_RANDOM_PASSTABLE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid::random {

/// What a rewrite keeps.
enum class RewriteClass { BitExact, Exact };

struct PassEntry {
  llvm::StringLiteral name;
  /// As after --pass-pipeline=builtin.module(…).
  llvm::StringLiteral pipeline;
  RewriteClass keeps;
  /// Whether an error with a reason is an answer too; the program is then taken as it was.
  bool mayRefuse = false;
  /// Whether it is tried on this program; null: on all.
  bool (*applies)(ModuleOp) = nullptr;
  /// Whether it is drawn where --only does not name it.
  bool isDrawn = true;
};

llvm::ArrayRef<PassEntry> getPassTable();

/// The entry of this name, or null.
const PassEntry *findPass(llvm::StringRef name);

} // namespace mlir::resid::random

#endif // RESID_TEST_RANDOM_PASSTABLE_H
