// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is enqueued on streams: kernels, copies, fills. Nothing waits. Does not own: contexts and modules (Modules.h).

#include "runtime/cuda/Modules.h"

using namespace resid::runtime::cuda;

resid_status resid_cuda_launch_v1(const resid_ctx *ctx, resid_cuda_module *module, uint32_t kernel, uint32_t grid_x,
                                  uint32_t block_x, uint32_t shared_bytes, void **arguments) {
  if (grid_x == 0)
    return RESID_OK;
  Place place(ctx);
  resid_status status = place.status;
  if (status != RESID_OK)
    return status;
  const Loaded *loaded = findLoaded(ctx, place, module, status);
  if (!loaded)
    return status;
  if (CUresult error = place.driver.launch(loaded->functions[kernel], grid_x, 1, 1, block_x, 1, 1, shared_bytes,
                                           place.stream, arguments, nullptr))
    return place.driver.refuse(ctx, error, "cuLaunchKernel", module->kernels[kernel]);
  return RESID_OK;
}

static CUdeviceptr toDevice(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

resid_status resid_cuda_copy_v1(const resid_ctx *ctx, resid_cuda_module *, void *to, const void *from, uint64_t bytes) {
  if (bytes == 0)
    return RESID_OK;
  Place place(ctx);
  if (place.status != RESID_OK)
    return place.status;
  if (CUresult error = place.driver.copy(toDevice(to), toDevice(from), bytes, place.stream))
    return place.driver.refuse(ctx, error, "cuMemcpyDtoDAsync", "");
  return RESID_OK;
}

/// Elements of 8 bytes whose halves differ are two columns of words, each filled by itself.
static CUresult fillWide(const Place &place, void *to, uint64_t value, uint64_t count) {
  auto low = static_cast<unsigned>(value), high = static_cast<unsigned>(value >> 32);
  if (low == high)
    return place.driver.fill32(toDevice(to), low, 2 * count, place.stream);
  constexpr size_t pitch = 2 * sizeof(unsigned);
  if (CUresult error = place.driver.fill2D32(toDevice(to), pitch, low, 1, count, place.stream))
    return error;
  return place.driver.fill2D32(toDevice(to) + sizeof(unsigned), pitch, high, 1, count, place.stream);
}

resid_status resid_cuda_fill_v1(const resid_ctx *ctx, resid_cuda_module *, void *to, uint64_t value,
                                uint32_t value_bytes, uint64_t count) {
  if (count == 0)
    return RESID_OK;
  Place place(ctx);
  if (place.status != RESID_OK)
    return place.status;
  CUresult error = CUDA_SUCCESS;
  if (value_bytes == 1)
    error = place.driver.fill8(toDevice(to), static_cast<unsigned char>(value), count, place.stream);
  else if (value_bytes == 2)
    error = place.driver.fill16(toDevice(to), static_cast<unsigned short>(value), count, place.stream);
  else if (value_bytes == 4)
    error = place.driver.fill32(toDevice(to), static_cast<unsigned>(value), count, place.stream);
  else
    error = fillWide(place, to, value, count);
  return error == CUDA_SUCCESS ? RESID_OK : place.driver.refuse(ctx, error, "cuMemsetAsync", "");
}
