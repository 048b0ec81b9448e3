// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/cuda/Driver.h"

#include "runtime/Message.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

using namespace resid::runtime;
using namespace resid::runtime::cuda;

/// The longest line that is logged; a compiler's log in it is cut off.
static constexpr size_t kLineBytes = 2048;

static Driver driver;

void cuda::log(const resid_ctx *ctx, int32_t level, const char *text) {
  if (ctx && ctx->log)
    ctx->log(ctx->user, level, text);
}

/// Says why there is no driver to be used.
static void fail(resid_status status, const char *what, const char *detail) {
  driver.status = status;
  Message(driver.why, sizeof(driver.why)).add("%s%s", what, detail);
}

static void *openDriver() {
  if (const char *file = getenv("RESID_CUDA_DRIVER"))
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? library : dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
}

static const char *getName(CUresult error) {
  const char *name = nullptr;
  return driver.getErrorName(error, &name) == CUDA_SUCCESS && name ? name : "an unknown error";
}

/// Gives the name of a function that the library lacks, or null.
static const char *findFunctions(void *library) {
#define RESID_CUDA_FUNCTION(MEMBER, NAME, ...)                                                                         \
  driver.MEMBER = reinterpret_cast<CUresult (*)(__VA_ARGS__)>(dlsym(library, NAME));                                   \
  if (!driver.MEMBER)                                                                                                  \
    return NAME;
#define RESID_CUDA_OPTIONAL(MEMBER, NAME, ...)                                                                         \
  driver.MEMBER = reinterpret_cast<CUresult (*)(__VA_ARGS__)>(dlsym(library, NAME));
#include "runtime/cuda/DriverFunctions.def"
  return nullptr;
}

static void findDriver() {
  driver.status = RESID_OK;
  void *library = openDriver();
  if (!library) {
    const char *why = dlerror();
    return fail(RESID_NO_DEVICE,
                "expected the CUDA driver, libcuda.so.1, but it could not be loaded: ", why ? why : "");
  }
  // The library is never closed: threads may be in it when the process ends.
  if (const char *missing = findFunctions(library))
    return fail(RESID_VERSION, "expected a CUDA driver of version 11.0 or later, but this one has no ", missing);
  if (CUresult error = driver.init(0))
    return fail(RESID_NO_DEVICE, "expected a CUDA device, but cuInit answered ", getName(error));
  if (CUresult error = driver.getVersion(&driver.version))
    return fail(RESID_NO_DEVICE, "expected a CUDA driver, but cuDriverGetVersion answered ", getName(error));
  if (driver.version < kLeastDriver) {
    char found[32];
    Message(found, sizeof(found)).add("%d.%d", driver.version / 1000, driver.version % 1000 / 10);
    return fail(RESID_VERSION, "expected a CUDA driver of version 11.0 or later, but got ", found);
  }
  int devices = 0;
  if (driver.getDeviceCount(&devices) != CUDA_SUCCESS || devices == 0)
    return fail(RESID_NO_DEVICE, "expected a CUDA device, but the driver has none", "");
}

const Driver &Driver::get() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, findDriver);
  return driver;
}

static resid_status toStatus(CUresult error) {
  switch (error) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return RESID_OOM;
  case CUDA_ERROR_NO_DEVICE:
    return RESID_NO_DEVICE;
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
    return RESID_UNSUPPORTED;
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    return RESID_VERSION;
  default:
    return RESID_LAUNCH;
  }
}

resid_status Driver::refuse(const resid_ctx *ctx, CUresult error, const char *call, const char *about,
                            const char *log) const {
  char line[kLineBytes];
  const char *text = nullptr;
  if (getErrorString(error, &text) != CUDA_SUCCESS || !text)
    text = "no text";
  Message message(line, sizeof(line));
  message.add("%s%s%s answered %s (%s)", call, *about ? " of " : "", about, getName(error), text);
  if (*log)
    message.add(": %s", log);
  cuda::log(ctx, RESID_LOG_ERROR, line);
  return toStatus(error);
}
