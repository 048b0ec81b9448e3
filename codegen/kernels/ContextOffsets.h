// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the members of a caller's context lie. Not: who reads them.

#ifndef RESID_CODEGEN_KERNELS_CONTEXTOFFSETS_H
#define RESID_CODEGEN_KERNELS_CONTEXTOFFSETS_H

#include "runtime/resid.h"
#include <cstddef>
#include <cstdint>

namespace mlir::resid::kernels {

/// The places of the members of resid_ctx that generated code reads, in bytes. All targets lay it out as this machine
/// does: with pointers of 64 bits.
enum ContextOffset : int32_t {
  AbiVersion = offsetof(resid_ctx, abi_version),
  Hints = offsetof(resid_ctx, hints),
  User = offsetof(resid_ctx, user),
  ParallelFor = offsetof(resid_ctx, parallel_for),
  Alloc = offsetof(resid_ctx, alloc),
  Free = offsetof(resid_ctx, free),
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_CONTEXTOFFSETS_H
