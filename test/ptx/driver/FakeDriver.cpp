// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library with the functions of the CUDA driver that the runtime and resid-run call, for machines without a GPU. The
// memory of the device is the host's, and kernels are run by the interpreter. The environment variable RESID_FAKE_CUDA
// says what device it plays, and which calls fail (State.h).

#include "ptx/driver/State.h"

#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

using namespace resid;
using namespace resid::fake;

namespace {

enum : CUresult {
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidContext = 201,
  InvalidPTX = 218,
  NotFound = 500,
  CaptureUnsupported = 900,
};

thread_local std::vector<Context *> current;

/// Holds the mutex, and knows whether the call is to fail.
struct Call {
  explicit Call(const char *name) : lock(State::get().mutex) {
    for (Settings::Failure &failure : State::get().settings.failures)
      if (failure.call == name && ++failure.seen >= failure.from)
        error = failure.code;
  }
  std::lock_guard<std::recursive_mutex> lock;
  CUresult error = 0;
};

#define ENTER(NAME)                                                                                                    \
  Call call(NAME);                                                                                                     \
  State &state = State::get();                                                                                         \
  (void)state;                                                                                                         \
  if (call.error)                                                                                                      \
    return call.error;

CUresult fill(Stream *stream, uint64_t to, const void *value, size_t bytes, size_t count, size_t pitch) {
  State &state = State::get();
  if (count > 0 && !state.hasMemory(to, (count - 1) * pitch + bytes))
    return InvalidValue;
  uint64_t bits = 0;
  std::memcpy(&bits, value, bytes);
  return state.enqueue(stream, [=] {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(reinterpret_cast<char *>(to) + i * pitch, &bits, bytes);
    return 0;
  });
}

} // namespace

extern "C" {

CUresult cuGetErrorName(CUresult error, const char **name) {
  static const std::map<int, const char *> names = {{1, "CUDA_ERROR_INVALID_VALUE"},
                                                    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                    {100, "CUDA_ERROR_NO_DEVICE"},
                                                    {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                    {218, "CUDA_ERROR_INVALID_PTX"},
                                                    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                    {500, "CUDA_ERROR_NOT_FOUND"},
                                                    {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
                                                    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}};
  auto known = names.find(error);
  *name = known == names.end() ? nullptr : known->second;
  return *name ? 0 : InvalidValue;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error ? "as the fake driver was told" : "no error";
  return 0;
}

CUresult cuInit(unsigned) {
  ENTER("cuInit");
  return 0;
}

CUresult cuDriverGetVersion(int *version) {
  ENTER("cuDriverGetVersion");
  *version = state.settings.version;
  return 0;
}

CUresult cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount");
  *count = state.settings.devices;
  return 0;
}

CUresult cuDeviceGet(int *device, int ordinal) {
  ENTER("cuDeviceGet");
  if (ordinal < 0 || ordinal >= state.settings.devices)
    return InvalidDevice;
  *device = ordinal;
  return 0;
}

CUresult cuDeviceGetName(char *name, int bytes, int) {
  ENTER("cuDeviceGetName");
  std::strncpy(name, "interpreter of PTX", bytes);
  return 0;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, int) {
  ENTER("cuDeviceGetAttribute");
  *value = attribute == 75 ? state.settings.chip / 10 : attribute == 76 ? state.settings.chip % 10 : 0;
  return 0;
}

CUresult cuDevicePrimaryCtxRetain(Context **context, int device) {
  ENTER("cuDevicePrimaryCtxRetain");
  *context = state.getPrimary(device);
  return 0;
}

CUresult cuCtxCreate_v2(Context **context, unsigned, int device) {
  ENTER("cuCtxCreate");
  state.contexts.push_back({device, state.nextId++});
  current.push_back(&state.contexts.back());
  *context = current.back();
  return 0;
}

CUresult cuCtxDestroy_v2(Context *context) {
  ENTER("cuCtxDestroy");
  std::erase(current, context);
  state.modules.remove_if([&](const Module &module) { return module.context == context; });
  state.contexts.remove_if([&](const Context &known) { return &known == context; });
  return 0;
}

CUresult cuCtxGetCurrent(Context **context) {
  ENTER("cuCtxGetCurrent");
  *context = current.empty() ? nullptr : current.back();
  return 0;
}

CUresult cuCtxSetCurrent(Context *context) {
  ENTER("cuCtxSetCurrent");
  if (!current.empty())
    current.pop_back();
  if (context)
    current.push_back(context);
  return 0;
}

CUresult cuCtxPushCurrent_v2(Context *context) {
  ENTER("cuCtxPushCurrent");
  current.push_back(context);
  return 0;
}

CUresult cuCtxPopCurrent_v2(Context **context) {
  ENTER("cuCtxPopCurrent");
  if (current.empty())
    return InvalidContext;
  *context = current.back();
  current.pop_back();
  return 0;
}

CUresult cuCtxGetDevice(int *device) {
  ENTER("cuCtxGetDevice");
  if (current.empty())
    return InvalidContext;
  *device = current.back()->device;
  return 0;
}

CUresult cuCtxGetId(Context *context, unsigned long long *id) {
  ENTER("cuCtxGetId");
  *id = context->id;
  return state.settings.hasIds ? 0 : InvalidValue;
}

CUresult cuCtxSynchronize() {
  ENTER("cuCtxSynchronize");
  return current.empty() ? CUresult(InvalidContext) : 0;
}

CUresult cuStreamCreate(Stream **stream, unsigned) {
  ENTER("cuStreamCreate");
  if (current.empty())
    return InvalidContext;
  state.streams.emplace_back().context = current.back();
  *stream = &state.streams.back();
  return 0;
}

CUresult cuStreamSynchronize(Stream *stream) {
  ENTER("cuStreamSynchronize");
  return stream && stream->isCapturing ? CUresult(CaptureUnsupported) : 0;
}

CUresult cuStreamGetCtx(Stream *stream, Context **context) {
  ENTER("cuStreamGetCtx");
  *context = stream->context;
  return 0;
}

CUresult cuStreamIsCapturing(Stream *stream, int *status) {
  ENTER("cuStreamIsCapturing");
  *status = stream->isCapturing;
  return 0;
}

CUresult cuStreamBeginCapture_v2(Stream *stream, int) {
  ENTER("cuStreamBeginCapture");
  stream->isCapturing = true;
  return 0;
}

CUresult cuStreamEndCapture(Stream *stream, Graph **graph) {
  ENTER("cuStreamEndCapture");
  state.graphs.push_back({std::move(stream->captured)});
  *graph = &state.graphs.back();
  stream->isCapturing = false;
  stream->captured.clear();
  return 0;
}

CUresult cuEventCreate(Event **event, unsigned) {
  ENTER("cuEventCreate");
  *event = &state.events.emplace_back();
  return 0;
}

CUresult cuEventRecord(Event *event, Stream *stream) {
  ENTER("cuEventRecord");
  return state.enqueue(stream, [event] {
    event->time = std::chrono::steady_clock::now();
    return 0;
  });
}

CUresult cuEventSynchronize(Event *) {
  ENTER("cuEventSynchronize");
  return 0;
}

CUresult cuEventElapsedTime(float *milliseconds, Event *first, Event *second) {
  ENTER("cuEventElapsedTime");
  *milliseconds = std::chrono::duration<float, std::milli>(second->time - first->time).count();
  return 0;
}

CUresult cuGraphInstantiateWithFlags(Graph **executable, Graph *graph, unsigned long long) {
  ENTER("cuGraphInstantiate");
  *executable = graph;
  return 0;
}

CUresult cuGraphLaunch(Graph *graph, Stream *) {
  ENTER("cuGraphLaunch");
  for (const auto &node : graph->nodes)
    if (CUresult error = node())
      return error;
  return 0;
}

CUresult cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  ENTER("cuMemAlloc");
  void *memory = bytes ? std::aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr;
  if (!memory)
    return bytes ? OutOfMemory : InvalidValue;
  // What nobody has written is no number.
  std::memset(memory, 0xff, bytes);
  *address = reinterpret_cast<uint64_t>(memory);
  state.allocations[*address] = bytes;
  state.memory.add(memory, bytes, "array " + std::to_string(state.allocations.size()));
  return 0;
}

CUresult cuMemFree_v2(uint64_t address) {
  ENTER("cuMemFree");
  if (!state.allocations.erase(address))
    return InvalidValue;
  state.memory.remove(reinterpret_cast<void *>(address));
  std::free(reinterpret_cast<void *>(address));
  return 0;
}

CUresult cuMemAllocAsync(uint64_t *address, size_t bytes, Stream *) { return cuMemAlloc_v2(address, bytes); }
CUresult cuMemFreeAsync(uint64_t address, Stream *) { return cuMemFree_v2(address); }

CUresult cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  ENTER("cuMemcpyHtoD");
  if (!state.hasMemory(to, bytes))
    return InvalidValue;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}

CUresult cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  ENTER("cuMemcpyDtoH");
  if (!state.hasMemory(from, bytes))
    return InvalidValue;
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}

CUresult cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, Stream *stream) {
  ENTER("cuMemcpyDtoDAsync");
  if (!state.hasMemory(to, bytes) || !state.hasMemory(from, bytes))
    return InvalidValue;
  return state.enqueue(stream, [=] {
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return 0;
  });
}

CUresult cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, Stream *stream) {
  ENTER("cuMemsetD8Async");
  return fill(stream, to, &value, sizeof(value), count, sizeof(value));
}

CUresult cuMemsetD16Async(uint64_t to, unsigned short value, size_t count, Stream *stream) {
  ENTER("cuMemsetD16Async");
  return fill(stream, to, &value, sizeof(value), count, sizeof(value));
}

CUresult cuMemsetD32Async(uint64_t to, unsigned value, size_t count, Stream *stream) {
  ENTER("cuMemsetD32Async");
  return fill(stream, to, &value, sizeof(value), count, sizeof(value));
}

CUresult cuMemsetD2D32Async(uint64_t to, size_t pitch, unsigned value, size_t width, size_t height, Stream *stream) {
  ENTER("cuMemsetD2D32Async");
  return width == 1 ? fill(stream, to, &value, sizeof(value), height, pitch) : CUresult(InvalidValue);
}

CUresult cuModuleLoadDataEx(Module **module, const void *image, unsigned options, int *names, void **values) {
  ENTER("cuModuleLoadDataEx");
  if (current.empty())
    return InvalidContext;
  llvm::Expected<ptx::Module> code = ptx::Module::parse(state.settings.edit(static_cast<const char *>(image)));
  if (!code) {
    std::string text = llvm::toString(code.takeError());
    for (unsigned i = 0; i + 1 < options; ++i)
      if (names[i] == 5) // CU_JIT_ERROR_LOG_BUFFER, with its size after it
        std::strncpy(static_cast<char *>(values[i]), text.c_str(), reinterpret_cast<uintptr_t>(values[i + 1]) - 1);
    return InvalidPTX;
  }
  state.modules.push_back({current.back(), std::move(*code)});
  *module = &state.modules.back();
  return 0;
}

CUresult cuModuleUnload(Module *module) {
  ENTER("cuModuleUnload");
  state.modules.remove_if([&](const Module &known) { return &known == module; });
  return 0;
}

CUresult cuModuleGetFunction(const ptx::Kernel **function, Module *module, const char *name) {
  ENTER("cuModuleGetFunction");
  *function = module->code.find(name);
  return *function ? 0 : CUresult(NotFound);
}

CUresult cuFuncGetAttribute(int *value, int attribute, const ptx::Kernel *) {
  ENTER("cuFuncGetAttribute");
  *value = attribute == 3 ? state.settings.localBytes : 0;
  return 0;
}

CUresult cuLaunchKernel(const ptx::Kernel *kernel, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned shared, Stream *stream, void **values, void **) {
  ENTER("cuLaunchKernel");
  if (gridX == 0 || gridY != 1 || gridZ != 1 || blockY != 1 || blockZ != 1)
    return InvalidValue;
  // Values are read now, whenever the kernel runs.
  std::vector<uint8_t> parameters(kernel->parameterBytes());
  for (auto [i, parameter] : llvm::enumerate(kernel->parameters()))
    std::memcpy(parameters.data() + parameter.offset, values[i], parameter.bytes);
  return state.enqueue(stream, [=, &state] { return state.runKernel(*kernel, gridX, blockX, shared, parameters); });
}

} // extern "C"
