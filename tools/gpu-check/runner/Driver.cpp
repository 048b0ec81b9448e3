// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

void fail(int code, const char *format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  std::fprintf(stderr, "gpu-check: %s\n", text);
  std::printf("fatal,\"%s\"\n", text);
  std::fflush(stdout);
  // What the driver does at an exit may wait for a kernel that does not end.
  std::_Exit(code);
}

namespace {

void *library;

void *find(const char *name) {
  void *function = dlsym(library, name);
  if (!function)
    fail(4, "expected a CUDA driver with the function %s, but this one has none", name);
  return function;
}

template <typename... Arguments> void call(const char *name, Arguments... arguments) {
  int error = reinterpret_cast<int (*)(Arguments...)>(find(name))(arguments...);
  if (error != 0)
    fail(5, "%s answered %d", name, error);
}

} // namespace

Driver::Driver() {
  const char *file = std::getenv("RESID_CUDA_DRIVER");
  library = dlopen(file ? file : "libcuda.so.1", RTLD_NOW);
  if (!library)
    fail(4, "expected the CUDA driver, but %s", dlerror());
  call("cuInit", 0u);
}

const Driver &Driver::get() {
  static Driver driver;
  return driver;
}

Handle Driver::retainPrimary(int device) const {
  Handle context = nullptr;
  call("cuDevicePrimaryCtxRetain", &context, device);
  return context;
}

Handle Driver::createContext(int device) const {
  Handle context = nullptr;
  call("cuCtxCreate_v2", &context, 0u, device);
  return context;
}

void Driver::setCurrent(Handle context) const { call("cuCtxSetCurrent", context); }

Handle Driver::createStream() const {
  constexpr unsigned nonBlocking = 1;
  Handle stream = nullptr;
  call("cuStreamCreate", &stream, nonBlocking);
  return stream;
}

void Driver::synchronize(Handle stream) const { call("cuStreamSynchronize", stream); }
void Driver::synchronizeAll() const { call("cuCtxSynchronize"); }

Address Driver::allocate(size_t bytes) const {
  Address address = 0;
  call("cuMemAlloc_v2", &address, bytes);
  return address;
}

void Driver::release(Address address) const { call("cuMemFree_v2", address); }
void Driver::toDevice(Address to, const void *from, size_t bytes) const { call("cuMemcpyHtoD_v2", to, from, bytes); }
void Driver::toHost(void *to, Address from, size_t bytes) const { call("cuMemcpyDtoH_v2", to, from, bytes); }

void Driver::copy(Address to, Address from, size_t bytes, Handle stream) const {
  call("cuMemcpyDtoDAsync_v2", to, from, bytes, stream);
}

void Driver::fill(Address to, unsigned word, size_t words, Handle stream) const {
  if (words != 0)
    call("cuMemsetD32Async", to, word, words, stream);
}

void Driver::beginCapture(Handle stream) const {
  constexpr int relaxed = 2;
  call("cuStreamBeginCapture_v2", stream, relaxed);
}

Handle Driver::endCapture(Handle stream) const {
  Handle graph = nullptr, executable = nullptr;
  call("cuStreamEndCapture", stream, &graph);
  call("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
  return executable;
}

void Driver::launchGraph(Handle graph, Handle stream) const { call("cuGraphLaunch", graph, stream); }

Handle Driver::createEvent() const {
  Handle event = nullptr;
  call("cuEventCreate", &event, 0u);
  return event;
}

void Driver::record(Handle event, Handle stream) const { call("cuEventRecord", event, stream); }

float Driver::elapsed(Handle first, Handle second) const {
  float milliseconds = 0;
  call("cuEventSynchronize", second);
  call("cuEventElapsedTime", &milliseconds, first, second);
  return milliseconds;
}

const char *Driver::getName(int device) const {
  static char name[256];
  call("cuDeviceGetName", name, int(sizeof(name)), device);
  return name;
}

int Driver::getVersion() const {
  int version = 0;
  call("cuDriverGetVersion", &version);
  return version;
}
