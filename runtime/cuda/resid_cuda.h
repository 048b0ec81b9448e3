/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What objects compiled for NVIDIA GPUs ask of the runtime library. Generated code alone calls it; applications call
 * the functions of generated headers. The names end in the version of what they take, so that an object and a library
 * that do not fit together do not link. Does not own: the driver, which is found when it is first needed. */
#ifndef RESID_CUDA_H
#define RESID_CUDA_H

#include "runtime/resid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RESID_CUDA_PTX = 0, RESID_CUDA_CUBIN = 1 };

/* The kernels of an object for one chip. */
typedef struct resid_cuda_image {
  uint32_t chip; /* 80 for sm_80 */
  uint32_t
      kind; /* RESID_CUDA_PTX: text that ends in a 0, for this chip and later ones; RESID_CUDA_CUBIN: machine code */
  uint64_t bytes;
  const void *data;
} resid_cuda_image;

typedef struct resid_cuda_module {
  uint32_t version;     /* 1 */
  uint32_t image_count; /* at least 1, by ascending chip */
  const resid_cuda_image *images;
  uint64_t kernel_count;
  const char *const *kernels; /* their names, the same in all images */
  void *loaded;               /* NULL in an object; what the runtime has loaded, by context */
} resid_cuda_module;

/* Finds the driver, the context of ctx->stream and its device, and loads the module there, unless it has been loaded.
 * RESID_NO_DEVICE: no driver, or no device. RESID_VERSION: a driver that is too old. RESID_UNSUPPORTED: no image for
 * the device. RESID_LAUNCH: the driver refuses it, or the stream is being captured. RESID_OOM. */
RESID_API resid_status resid_cuda_load_v1(const resid_ctx *ctx, resid_cuda_module *module);

/* Enqueues kernel number `kernel` on ctx->stream: grid_x blocks of block_x threads. `arguments` as cuLaunchKernel takes
 * them. Does nothing for no blocks. */
RESID_API resid_status resid_cuda_launch_v1(const resid_ctx *ctx, resid_cuda_module *module, uint32_t kernel,
                                            uint32_t grid_x, uint32_t block_x, uint32_t shared_bytes, void **arguments);

/* Enqueues a copy of `bytes` bytes within the memory of the device. */
RESID_API resid_status resid_cuda_copy_v1(const resid_ctx *ctx, resid_cuda_module *module, void *to, const void *from,
                                          uint64_t bytes);

/* Enqueues the filling of `count` elements of 1, 2, 4 or 8 bytes with the low bytes of `value`. */
RESID_API resid_status resid_cuda_fill_v1(const resid_ctx *ctx, resid_cuda_module *module, void *to, uint64_t value,
                                          uint32_t value_bytes, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif /* RESID_CUDA_H */
