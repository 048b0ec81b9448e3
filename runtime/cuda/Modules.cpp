// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/cuda/Modules.h"

#include "runtime/Message.h"
#include "runtime/resid_runtime.h"

#include <pthread.h>
#include <stdlib.h>

using namespace resid::runtime;
using namespace resid::runtime::cuda;

/// Whoever loads and unloads holds it. Lookups do without.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/// All modules of which something was loaded.
static resid_cuda_module **owners = nullptr;
static size_t ownerCount = 0;

//===------------------------------------------- contexts ---------------------------------------------------------===//

/// The driver's names for the legacy stream and that of a thread; they have no context of their own.
static bool isOfCurrentContext(CUstream stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

resid_status Place::find(const resid_ctx *ctx) {
  if (driver.status != RESID_OK) {
    log(ctx, RESID_LOG_ERROR, driver.why);
    return driver.status;
  }
  CUcontext current = nullptr;
  if (CUresult error = driver.getCurrent(&current))
    return driver.refuse(ctx, error, "cuCtxGetCurrent", "");
  context = current;
  if (!isOfCurrentContext(stream)) {
    if (CUresult error = driver.getStreamContext(stream, &context))
      return driver.refuse(ctx, error, "cuStreamGetCtx", "");
  } else if (!context) {
    CUdevice device = 0;
    if (CUresult error = driver.getDevice(&device, 0))
      return driver.refuse(ctx, error, "cuDeviceGet", "");
    // It stays until the process ends, as other users of it expect.
    if (CUresult error = driver.retainPrimary(&context, device))
      return driver.refuse(ctx, error, "cuDevicePrimaryCtxRetain", "");
  }
  if (context == current)
    return RESID_OK;
  if (CUresult error = driver.push(context))
    return driver.refuse(ctx, error, "cuCtxPushCurrent", "");
  isPushed = true;
  return RESID_OK;
}

Place::Place(const resid_ctx *ctx)
    : status(RESID_OK), driver(Driver::get()), stream(ctx ? static_cast<CUstream>(ctx->stream) : nullptr) {
  status = find(ctx);
}

Place::~Place() {
  CUcontext popped;
  if (isPushed)
    driver.pop(&popped);
}

//===------------------------------------------- modules ----------------------------------------------------------===//

static unsigned long long getId(const Driver &driver, CUcontext context) {
  unsigned long long id = 0;
  if (!driver.getContextId || driver.getContextId(context, &id) != CUDA_SUCCESS)
    return 0;
  return id;
}

static Loaded *getFirst(resid_cuda_module *module) {
  return static_cast<Loaded *>(__atomic_load_n(&module->loaded, __ATOMIC_ACQUIRE));
}

static Loaded *lookUp(resid_cuda_module *module, CUcontext context, unsigned long long id) {
  for (Loaded *entry = getFirst(module); entry; entry = entry->next)
    if (__atomic_load_n(&entry->context, __ATOMIC_ACQUIRE) == context && entry->id == id)
      return entry;
  return nullptr;
}

/// The image for a device of this chip: its own machine code, else the PTX of the latest chip that is no later.
static const resid_cuda_image *chooseImage(const resid_cuda_module *module, uint32_t chip) {
  const resid_cuda_image *chosen = nullptr;
  for (uint32_t i = 0; i < module->image_count; ++i) {
    const resid_cuda_image *image = &module->images[i];
    bool isMachineCode = image->kind == RESID_CUDA_CUBIN;
    bool runs = image->chip <= chip && (!isMachineCode || image->chip / 10 == chip / 10);
    bool isBetter = !chosen || isMachineCode || chosen->kind != RESID_CUDA_CUBIN;
    if (runs && isBetter)
      chosen = image;
  }
  return chosen;
}

static resid_status loadImage(const resid_ctx *ctx, const Place &place, const resid_cuda_module *module,
                              CUmodule &loaded) {
  const Driver &driver = place.driver;
  CUdevice device = 0;
  int major = 0, minor = 0;
  if (CUresult error = driver.getContextDevice(&device))
    return driver.refuse(ctx, error, "cuCtxGetDevice", "");
  if (CUresult error = driver.getDeviceAttribute(&major, ComputeCapabilityMajor, device))
    return driver.refuse(ctx, error, "cuDeviceGetAttribute", "");
  if (CUresult error = driver.getDeviceAttribute(&minor, ComputeCapabilityMinor, device))
    return driver.refuse(ctx, error, "cuDeviceGetAttribute", "");
  uint32_t chip = static_cast<uint32_t>(10 * major + minor);
  const resid_cuda_image *image = chooseImage(module, chip);
  if (!image) {
    char line[256];
    Message message(line, sizeof(line));
    message.add("expected a device of sm_%u or later, but got one of sm_%u", module->images[0].chip, chip);
    log(ctx, RESID_LOG_ERROR, line);
    return RESID_UNSUPPORTED;
  }
  char info[1024] = "", errors[1024] = "";
  int options[] = {InfoLogBuffer, InfoLogBytes, ErrorLogBuffer, ErrorLogBytes};
  void *values[] = {info, reinterpret_cast<void *>(sizeof(info)), errors, reinterpret_cast<void *>(sizeof(errors))};
  if (CUresult error = driver.loadModule(&loaded, image->data, 4, options, values))
    return driver.refuse(ctx, error, "cuModuleLoadDataEx", "", errors);
  return RESID_OK;
}

/// Kernels keep all in registers; else they would be slow, which is worth a word.
static void warnOfLocalMemory(const resid_ctx *ctx, const Driver &driver, CUfunction function, const char *name) {
  int bytes = 0;
  if (driver.getFunctionAttribute(&bytes, LocalSizeBytes, function) != CUDA_SUCCESS || bytes == 0)
    return;
  char line[256];
  Message(line, sizeof(line)).addQuoted(name).add(": expected no local memory, but it has %d bytes per thread", bytes);
  log(ctx, RESID_LOG_WARNING, line);
}

static resid_status findFunctions(const resid_ctx *ctx, const Place &place, Loaded &entry) {
  for (uint64_t i = 0; i < entry.owner->kernel_count; ++i) {
    const char *name = entry.owner->kernels[i];
    if (CUresult error = place.driver.getFunction(&entry.functions[i], entry.module, name))
      return place.driver.refuse(ctx, error, "cuModuleGetFunction", name);
    warnOfLocalMemory(ctx, place.driver, entry.functions[i], name);
  }
  return RESID_OK;
}

/// An entry that nothing is loaded in, among those of the module or a new one; null where there is no memory.
static Loaded *getEmptyEntry(resid_cuda_module *module) {
  for (Loaded *entry = getFirst(module); entry; entry = entry->next)
    if (!entry->context)
      return entry;
  size_t more = module->kernel_count * sizeof(CUfunction);
  auto *entry = static_cast<Loaded *>(calloc(1, sizeof(Loaded) + more));
  if (!entry)
    return nullptr;
  if (!getFirst(module)) {
    auto *longer = static_cast<resid_cuda_module **>(realloc(owners, (ownerCount + 1) * sizeof(resid_cuda_module *)));
    if (!longer) {
      free(entry);
      return nullptr;
    }
    owners = longer;
    owners[ownerCount++] = module;
  }
  entry->owner = module;
  entry->next = getFirst(module);
  __atomic_store_n(&module->loaded, static_cast<void *>(entry), __ATOMIC_RELEASE);
  return entry;
}

static bool isCaptured(const Place &place) {
  int status = 0;
  return !isOfCurrentContext(place.stream) && place.driver.isCapturing(place.stream, &status) == CUDA_SUCCESS &&
         status != 0;
}

/// With the mutex.
static resid_status load(const resid_ctx *ctx, const Place &place, resid_cuda_module *module, unsigned long long id) {
  if (lookUp(module, place.context, id))
    return RESID_OK;
  if (isCaptured(place)) {
    log(ctx, RESID_LOG_ERROR,
        "expected kernels that are loaded before a stream is captured: call <name>_preload first");
    return RESID_LAUNCH;
  }
  Loaded *entry = getEmptyEntry(module);
  if (!entry) {
    log(ctx, RESID_LOG_ERROR, "expected memory for the list of loaded modules, but there is none");
    return RESID_OOM;
  }
  resid_status status = loadImage(ctx, place, module, entry->module);
  if (status != RESID_OK)
    return status;
  status = findFunctions(ctx, place, *entry);
  if (status != RESID_OK) {
    place.driver.unloadModule(entry->module);
    return status;
  }
  entry->id = id;
  __atomic_store_n(&entry->context, place.context, __ATOMIC_RELEASE);
  return RESID_OK;
}

const Loaded *cuda::findLoaded(const resid_ctx *ctx, const Place &place, resid_cuda_module *module,
                               resid_status &status) {
  unsigned long long id = getId(place.driver, place.context);
  if (const Loaded *found = lookUp(module, place.context, id))
    return found;
  pthread_mutex_lock(&mutex);
  status = load(ctx, place, module, id);
  pthread_mutex_unlock(&mutex);
  return status == RESID_OK ? lookUp(module, place.context, id) : nullptr;
}

resid_status resid_cuda_load_v1(const resid_ctx *ctx, resid_cuda_module *module) {
  Place place(ctx);
  resid_status status = place.status;
  if (status == RESID_OK)
    findLoaded(ctx, place, module, status);
  return status;
}

void resid_cuda_unload(const resid_ctx *ctx) {
  Place place(ctx);
  if (place.status != RESID_OK)
    return;
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; i < ownerCount; ++i)
    for (Loaded *entry = getFirst(owners[i]); entry; entry = entry->next)
      if (entry->context == place.context) {
        __atomic_store_n(&entry->context, static_cast<CUcontext>(nullptr), __ATOMIC_RELEASE);
        place.driver.unloadModule(entry->module);
      }
  pthread_mutex_unlock(&mutex);
}
