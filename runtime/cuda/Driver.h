// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver, found at run time: its functions, and what its errors are as statuses. Declares what it needs of the
// driver's interface itself, so that no CUDA toolkit is there to build with. Does not own: modules and launches.

#ifndef RESID_RUNTIME_CUDA_DRIVER_H
#define RESID_RUNTIME_CUDA_DRIVER_H

#include "runtime/resid.h"

namespace resid::runtime::cuda {

// The names and numbers are those of cuda.h.
using CUresult = int;
using CUdevice = int;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUdeviceptr = unsigned long long;

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
};
enum { ComputeCapabilityMajor = 75, ComputeCapabilityMinor = 76 };                   // CUdevice_attribute
enum { LocalSizeBytes = 3 };                                                         // CUfunction_attribute
enum { InfoLogBuffer = 3, InfoLogBytes = 4, ErrorLogBuffer = 5, ErrorLogBytes = 6 }; // CUjit_option

/// PTX 7.0, of chips from sm_80 on, came with CUDA 11.0.
constexpr int kLeastDriver = 11000;

struct Driver {
#define RESID_CUDA_FUNCTION(MEMBER, NAME, ...) CUresult (*MEMBER)(__VA_ARGS__);
#define RESID_CUDA_OPTIONAL(MEMBER, NAME, ...) CUresult (*MEMBER)(__VA_ARGS__);
#include "runtime/cuda/DriverFunctions.def"

  /// What became of the search: RESID_OK, or why there is no driver to be used, as one line of text.
  resid_status status;
  char why[512];
  int version;

  /// Searched for once: the file that RESID_CUDA_DRIVER names, else libcuda.so.1 or libcuda.so.
  static const Driver &get();

  /// Logs that a call of the driver failed, and gives the status of it. `about` is what it was about; may be empty.
  resid_status refuse(const resid_ctx *ctx, CUresult error, const char *call, const char *about,
                      const char *log = "") const;
};

/// Hands a line to the context's log, if it has one.
void log(const resid_ctx *ctx, int32_t level, const char *text);

} // namespace resid::runtime::cuda

#endif // RESID_RUNTIME_CUDA_DRIVER_H
