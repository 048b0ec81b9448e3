// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for temporaries in one block of memory, such that those which are alive at the same time never overlap. Plain
// numbers. Does not own when a temporary is alive (BufferLifetimes.h), nor what makes code of it (PlanScratch.cpp).

#ifndef RESID_CODEGEN_BOUNDARY_SCRATCHSLOTS_H
#define RESID_CODEGEN_BOUNDARY_SCRATCHSLOTS_H

#include "codegen/boundary/BufferLifetimes.h"
#include "codegen/boundary/SizeExpression.h"
#include "codegen/kernels/Target.h"

namespace mlir::resid::boundary {

using kernels::kScratchAlignment;

/// A temporary of `units` times so many bytes as `unit` says, which is 1 where its size is known.
struct ScratchRequest {
  int64_t units;
  SizeExpr unit;
  LiveRange range;
};

/// A part of the block. It has `units` times so many bytes as `unit` says, rounded up to the alignment.
struct ScratchArea {
  SizeExpr unit;
  int64_t units;
};

/// Where a temporary lies: so many units after the beginning of an area, which is aligned whatever a unit is.
struct ScratchPlace {
  unsigned area;
  int64_t offset;
};

struct ScratchLayout {
  /// One after the other. The area of known size, if there is one, is the first.
  SmallVector<ScratchArea> areas;
  /// One per request.
  SmallVector<ScratchPlace> places;
};

/// Temporaries share memory where their sizes are multiples of the same unit: nothing is known of how others compare.
ScratchLayout layOutScratch(ArrayRef<ScratchRequest> requests);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_SCRATCHSLOTS_H
