// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What residc can write to its main output, one entry per kind.

#ifndef RESID_TOOLS_RESIDC_EMITKINDS_H
#define RESID_TOOLS_RESIDC_EMITKINDS_H

#include "codegen/machine/Object.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::resid::tools {

/// Where an output comes from.
/// Shared: an object that was linked.
/// PTX: the kernels alone.
enum class EmitSource { Code, Shared, PTX, Program, Drawing, Header };

struct EmitKind {
  /// The value of --emit; residc.td lists the same names.
  llvm::StringLiteral name;
  /// Of files that hold it.
  llvm::StringLiteral suffix;
  EmitSource source;
  /// Which form of code, where it is code.
  std::optional<machine::CodeKind> code;
};

/// All kinds; the first is the default.
llvm::ArrayRef<EmitKind> getEmitKinds();

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESIDC_EMITKINDS_H
