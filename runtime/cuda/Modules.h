// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is loaded in which context. Does not own: the driver (Driver.h), nor what is enqueued (Launch.cpp).

#ifndef RESID_RUNTIME_CUDA_MODULES_H
#define RESID_RUNTIME_CUDA_MODULES_H

#include "runtime/cuda/Driver.h"
#include "runtime/cuda/resid_cuda.h"

namespace resid::runtime::cuda {

/// A module in one context. These stay where they are until the process ends; one that was unloaded is used again.
struct Loaded {
  Loaded *next;
  /// Null where nothing is loaded; written last.
  CUcontext context;
  /// Tells contexts apart that had one address after the other; 0 where the driver has no such numbers.
  unsigned long long id;
  CUmodule module;
  resid_cuda_module *owner;
  /// As many as the object has kernels.
  CUfunction functions[1];
};

/// Makes the context of a call current, as long as it lives. The caller's is current afterwards.
class Place {
public:
  explicit Place(const resid_ctx *ctx);
  ~Place();
  Place(const Place &) = delete;
  Place &operator=(const Place &) = delete;

  /// What became of it; the reason has been logged.
  resid_status status;
  const Driver &driver;
  CUstream stream;
  CUcontext context = nullptr;

private:
  resid_status find(const resid_ctx *ctx);
  bool isPushed = false;
};

/// Finds the module in the context of a place, or loads it. Null after `status` was set and the reason logged.
const Loaded *findLoaded(const resid_ctx *ctx, const Place &place, resid_cuda_module *module, resid_status &status);

} // namespace resid::runtime::cuda

#endif // RESID_RUNTIME_CUDA_MODULES_H
