// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which chips PTX is made for, and LLVM's description of them.

#ifndef RESID_CODEGEN_CUDA_PTX_CHIP_H
#define RESID_CODEGEN_CUDA_PTX_CHIP_H

#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::resid::cuda {

struct Chip {
  /// As in sm_90.
  std::string name;
  unsigned number;
  std::shared_ptr<llvm::TargetMachine> machine;
};

/// The chips of a comma list such as "sm_80,sm_90", by ascending number. An error says which are known.
llvm::Expected<std::vector<Chip>> resolveChips(llvm::StringRef list);

/// What is compiled for where no chip is named: the least one that there is, which later ones run too.
constexpr llvm::StringLiteral kDefaultChip = "sm_80";

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PTX_CHIP_H
