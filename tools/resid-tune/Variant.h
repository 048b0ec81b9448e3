// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program compiled by one schedule and loaded.

#ifndef RESID_TOOLS_RESID_TUNE_VARIANT_H
#define RESID_TOOLS_RESID_TUNE_VARIANT_H

#include "codegen/machine/Target.h"
#include "tools/resid-run/CompiledFunction.h"
#include "tools/resid-tune/Cases.h"

namespace mlir::resid::tune {

/// The code of one function.
struct VariantFunction {
  run::CompiledFunction compiled;
  run::LoadedFunction loaded;

  run::LoadedObject::PackedFunction getEntry() const { return loaded.entry; }
  bool isSameCode(const VariantFunction &other) const { return compiled.object == other.compiled.object; }
};

struct Variant {
  cpu::Schedule schedule;
  /// One per case; cases of one function share its code.
  std::vector<VariantFunction> functions;
};

/// What all variants are compiled for.
struct VariantOptions {
  std::string mcpu;
  ProgramMode mode;
};

/// Compiles the functions of the cases by `schedule` and loads them. What has the code of `like` takes that, loaded; it
/// may be null. An error where the processor is not one that code can be made for, or has no such vectors.
llvm::Expected<Variant> makeVariant(llvm::ArrayRef<Case> cases, const cpu::Schedule &schedule,
                                    const VariantOptions &options, const Variant *like);

} // namespace mlir::resid::tune

#endif // RESID_TOOLS_RESID_TUNE_VARIANT_H
