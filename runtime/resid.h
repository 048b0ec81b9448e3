/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The binary interface between generated kernels, the application and the runtime library. Every generated header
 * carries this text, so an application needs no other file to call a kernel. Does not own: threads and memory, which
 * the application lends through resid_ctx (resid_runtime.h offers ready ones). */
#ifndef RESID_ABI_H
#define RESID_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DLPack's tensors, which other libraries hand over, for the <name>_dl functions. DLPack's own header is included where
 * the compiler finds it. Elsewhere this text declares version 1.1, under the guard of that header. So another copy of
 * the header may come before or after. A program that needs a later version includes that version first. */
#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1
#define DLPACK_DLL
#ifdef __cplusplus
#define DLPACK_EXTERN_C extern "C"
#else
#define DLPACK_EXTERN_C
#endif
typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17
} DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
  kDLFloat8_e3m4 = 7U,
  kDLFloat8_e4m3 = 8U,
  kDLFloat8_e4m3b11fnuz = 9U,
  kDLFloat8_e4m3fn = 10U,
  kDLFloat8_e4m3fnuz = 11U,
  kDLFloat8_e5m2 = 12U,
  kDLFloat8_e5m2fnuz = 13U,
  kDLFloat8_e8m0fnu = 14U,
  kDLFloat6_e2m3fn = 15U,
  kDLFloat6_e3m2fn = 16U,
  kDLFloat4_e2m1fn = 17U
} DLDataTypeCode;
typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: row-major without gaps */
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags; /* of DLPACK_FLAG_BITMASK_ */
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
#endif

#ifndef RESID_API
#if defined(__GNUC__) || defined(__clang__)
#define RESID_API __attribute__((visibility("default")))
#else
#define RESID_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of everything in this block. A kernel answers RESID_VERSION to a context of another version. */
#define RESID_ABI_VERSION 1

/* What a call answers. RESID_OK is 0 and every error is negative. Values never change their meaning. Errors are found
 * before any output is written, except RESID_OOM, RESID_LAUNCH, RESID_INTERNAL, and a RESID_BAD_VALUE of a value that
 * the function computes. */
typedef int32_t resid_status;
enum {
  RESID_OK = 0,           /* done */
  RESID_BAD_POINTER = -1, /* a pointer is NULL although its array has elements */
  RESID_BAD_SHAPE = -2,   /* a size is negative, too large, or disagrees with another one; a row stride is too small */
  RESID_BAD_DTYPE = -3,   /* a tensor of another element type than the function takes */
  RESID_BAD_VALUE = -4,   /* a scalar out of its range, an assertion that does not hold, a file that is wrong */
  RESID_ALIAS = -5,       /* an output overlaps an array that it must not overlap */
  RESID_UNSUPPORTED = -6, /* this machine lacks what is needed, or a DLPack tensor lies elsewhere or otherwise */
  RESID_OOM = -7,         /* no memory: the alloc hook answered NULL, or there is no hook and scratch is needed */
  RESID_NO_DEVICE = -8,   /* no device, or no driver for it */
  RESID_LAUNCH = -9,      /* the device refused to run the kernel */
  RESID_VERSION = -10,    /* resid_ctx.abi_version (or a driver's version) is not the one expected */
  RESID_INTERNAL = -11    /* a mistake in resid itself */
};

/* What the application lends to a call. A NULL context means all members NULL: one thread, no scratch memory. Kernels
 * keep no pointer to it after they return. Any number of calls may share one context at the same time if its hooks
 * allow that. */
typedef struct resid_ctx {
  uint32_t abi_version; /* RESID_ABI_VERSION; this member, user and log keep their places in all versions */
  uint32_t hints;       /* 0, or one of RESID_HINT_; other bits are ignored */
  void *user;           /* handed to every hook, never read by a kernel */

  /* Calls fn(arg, i) once for every i in [0, n), in any order and on any threads, and returns when all n calls have
   * returned. n depends on the shapes of the call alone, so results do not depend on the number of threads. NULL: the
   * calling thread does all the work. */
  void (*parallel_for)(void *user, int64_t n, void (*fn)(void *arg, int64_t i), void *arg);

  /* Gives scratch memory of `bytes` bytes at a multiple of `alignment` (a power of two), or NULL. The kernel gives it
   * back through `free` before it returns. Where the hooks are NULL, a kernel that needs scratch memory answers
   * RESID_OOM; its <name>_scratch_bytes says how much it needs. */
  void *(*alloc)(void *user, size_t bytes, size_t alignment);
  void (*free)(void *user, void *ptr);

  void *stream; /* CUstream of objects compiled for cuda; unused by CPU objects */

  /* Receives messages of one line, such as why a function answers an error. The text lives for the call only. The level
   * is a RESID_LOG_ value. May be NULL. */
  void (*log)(void *user, int32_t level, const char *text);
} resid_ctx;

/* What the caller knows of the results of a call. It changes how fast they are written, and no bit of them. 0, or both:
 * each kernel decides by how much it writes. */
enum {
  RESID_HINT_READ_SOON = 1, /* they are read soon, and fit into the caches until then: write them through the cache */
  RESID_HINT_STREAM = 2     /* they are read much later: write them past the cache, where a kernel is able to */
};

enum { RESID_LOG_ERROR = 0, RESID_LOG_WARNING = 1, RESID_LOG_NOTE = 2 };

/* A context that lends nothing, to which hooks can be added: resid_ctx ctx = RESID_CTX_INIT; */
#define RESID_CTX_INIT {RESID_ABI_VERSION, 0, NULL, NULL, NULL, NULL, NULL, NULL}

/* What <name>_info() says about a compiled function. The strings live as long as the object is loaded. */
typedef struct resid_info {
  uint32_t abi_version;  /* RESID_ABI_VERSION of the object */
  const char *target;    /* the target triple */
  const char *cpu;       /* the CPU (or chip) it was compiled for; of several CPUs, the chosen one */
  const char *signature; /* the MLIR function type */
} resid_info;

/* The name of a status, such as "RESID_BAD_SHAPE", with a short explanation. Never NULL, not even for unknown values.
 * The string is constant. The runtime library has this function. */
RESID_API const char *resid_status_string(resid_status status);

#ifdef __cplusplus
}
#endif

#endif /* RESID_ABI_H */

/* What headers made with residc --weights-struct add. It has a guard of its own, since the header of an earlier resid,
 * which has no such types, may come first. */
#ifndef RESID_WEIGHT_LIST_H
#define RESID_WEIGHT_LIST_H

/* One member of a struct <name>_weights. */
typedef struct resid_weight {
  const char *name;     /* in checkpoints; NULL where <name>_prepare makes the array */
  const char *dtype;    /* as the safetensors format writes it: "F32", "BF16", "F16", "F64", "I64", "BOOL" ... */
  const int64_t *shape; /* `rank` sizes; NULL where the rank is 0 */
  int32_t rank;
} resid_weight;

/* What <name>_weight_list() answers: the members of the struct in their order, each of which is a pointer. It lives as
 * long as the object is loaded. */
typedef struct resid_weight_list {
  int64_t count;
  const resid_weight *weights;
} resid_weight_list;

#endif /* RESID_WEIGHT_LIST_H */
