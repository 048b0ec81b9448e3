// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A context whose memory is that of a device. Does not own: what is enqueued (Launch.cpp).

#include "runtime/cuda/Driver.h"
#include "runtime/resid_runtime.h"

using namespace resid::runtime::cuda;

/// Memory of the device is aligned to 256 bytes, more than any kernel asks for. `user` is the stream.
static void *allocate(void *user, size_t bytes, size_t) {
  CUdeviceptr memory = 0;
  CUresult error = Driver::get().allocate(&memory, bytes, static_cast<CUstream>(user));
  return error == CUDA_SUCCESS ? reinterpret_cast<void *>(memory) : nullptr;
}

static void release(void *user, void *memory) {
  if (memory)
    Driver::get().release(reinterpret_cast<uintptr_t>(memory), static_cast<CUstream>(user));
}

resid_status resid_cuda_ctx_init(resid_ctx *ctx, void *stream) {
  if (!ctx)
    return RESID_BAD_POINTER;
  *ctx = resid_ctx{};
  ctx->abi_version = RESID_ABI_VERSION;
  ctx->stream = stream;
  ctx->user = stream;
  const Driver &driver = Driver::get();
  if (driver.status != RESID_OK)
    return driver.status;
  if (!driver.allocate || !driver.release)
    return RESID_VERSION;
  ctx->alloc = allocate;
  ctx->free = release;
  return RESID_OK;
}
