// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls compiled functions from XLA on the CPU: one typed handler of the XLA FFI for all functions, which finds them by
// a name that resid_jax_add gave. Tasks run on XLA's own threads.

#include "xla/ffi/api/ffi.h"

#include "resid.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace ffi = xla::ffi;

namespace {

using Entry = resid_status (*)(const resid_ctx *, const DLTensor *const *, int32_t);

std::mutex entriesLock;
std::unordered_map<std::string, Entry> &entries() {
  static auto *map = new std::unordered_map<std::string, Entry>; // Handlers may run while the process ends.
  return *map;
}

struct Call {
  ffi::ThreadPool *pool;
  std::string message;
};

/// The tasks of one parallel_for. Threads of the pool may look at it after the call has returned, and find nothing to
/// do.
struct Tasks {
  int64_t count;
  void (*run)(void *, int64_t);
  void *argument;
  std::atomic<int64_t> next{0}, done{0};
  std::mutex lock;
  std::condition_variable finished;

  void work() {
    for (int64_t i; (i = next.fetch_add(1)) < count;) {
      run(argument, i);
      if (done.fetch_add(1) + 1 == count) {
        std::lock_guard<std::mutex> guard(lock);
        finished.notify_all();
      }
    }
  }
};

void parallelFor(void *user, int64_t count, void (*run)(void *, int64_t), void *argument) {
  ffi::ThreadPool *pool = static_cast<Call *>(user)->pool;
  auto tasks = std::make_shared<Tasks>();
  tasks->count = count;
  tasks->run = run;
  tasks->argument = argument;
  int64_t helpers = std::min(pool->num_threads(), count) - 1;
  for (int64_t i = 0; i < helpers; ++i)
    pool->Schedule([tasks] { tasks->work(); });
  tasks->work();
  std::unique_lock<std::mutex> guard(tasks->lock);
  tasks->finished.wait(guard, [&] { return tasks->done.load() == count; });
}

void *allocate(void *, size_t bytes, size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void release(void *, void *memory) { std::free(memory); }

void keepMessage(void *user, int32_t, const char *text) { static_cast<Call *>(user)->message = text; }

/// DLPack's code and bits of an element type; 0 bits for types that resid does not have.
std::pair<uint8_t, uint8_t> element(ffi::DataType type) {
  switch (type) {
  case ffi::F16:
    return {kDLFloat, 16};
  case ffi::BF16:
    return {kDLBfloat, 16};
  case ffi::F32:
    return {kDLFloat, 32};
  case ffi::F64:
    return {kDLFloat, 64};
  case ffi::PRED:
    return {kDLBool, 8};
  case ffi::S8:
    return {kDLInt, 8};
  case ffi::S16:
    return {kDLInt, 16};
  case ffi::S32:
    return {kDLInt, 32};
  case ffi::S64:
    return {kDLInt, 64};
  default:
    return {0, 0};
  }
}

DLTensor describe(const ffi::AnyBuffer &buffer) {
  DLTensor tensor = {};
  auto [code, bits] = element(buffer.element_type());
  tensor.data = buffer.untyped_data();
  tensor.device.device_type = kDLCPU;
  tensor.ndim = static_cast<int32_t>(buffer.dimensions().size());
  tensor.dtype = {code, bits, 1};
  tensor.shape = const_cast<int64_t *>(buffer.dimensions().begin());
  return tensor;
}

/// JAX has no numbers of 64 bits unless they are asked for. For an i64 ('i') or f64 ('f') it gives an i32 or f32, which
/// is widened, or the number's two words.
void widen(char kind, const ffi::AnyBuffer &buffer, DLTensor &tensor, int64_t &number) {
  bool isFloat = kind == 'f';
  if (kind == '0' || (tensor.dtype.bits == 64 && tensor.ndim == 0))
    return;
  if (buffer.element_type() == ffi::U32 && buffer.element_count() == 2) {
    std::memcpy(&number, tensor.data, sizeof number);
  } else if (isFloat && buffer.element_type() == ffi::F32) {
    double value = *static_cast<float *>(tensor.data);
    std::memcpy(&number, &value, sizeof number);
  } else if (!isFloat && buffer.element_type() == ffi::S32) {
    number = *static_cast<int32_t *>(tensor.data);
  } else {
    return;
  }
  tensor.data = &number;
  tensor.dtype = {uint8_t(isFloat ? kDLFloat : kDLInt), 64, 1};
  tensor.ndim = 0;
}

/// `wide` has a letter for each argument: '0', or what widen does to it.
ffi::Error call(ffi::ThreadPool pool, std::string_view name, std::string_view wide, ffi::RemainingArgs arguments,
                ffi::RemainingRets results) {
  Entry entry = nullptr;
  {
    std::lock_guard<std::mutex> guard(entriesLock);
    auto found = entries().find(std::string(name));
    if (found == entries().end())
      return ffi::Error(ffi::ErrorCode::kNotFound,
                        "resid: '" + std::string(name) + "' is a function of another process");
    entry = found->second;
  }
  std::vector<DLTensor> tensors;
  std::vector<int64_t> numbers(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    ffi::AnyBuffer buffer = *arguments.get<ffi::AnyBuffer>(i);
    tensors.push_back(describe(buffer));
    if (i < wide.size())
      widen(wide[i], buffer, tensors[i], numbers[i]);
  }
  for (size_t i = 0; i < results.size(); ++i)
    tensors.push_back(describe(**results.get<ffi::AnyBuffer>(i)));
  std::vector<const DLTensor *> pointers;
  for (const DLTensor &tensor : tensors)
    pointers.push_back(&tensor);

  Call state{&pool, {}};
  resid_ctx ctx = RESID_CTX_INIT;
  ctx.user = &state;
  ctx.parallel_for = parallelFor;
  ctx.alloc = allocate;
  ctx.free = release;
  ctx.log = keepMessage;
  resid_status status = entry(&ctx, pointers.data(), static_cast<int32_t>(pointers.size()));
  if (status == RESID_OK)
    return ffi::Error::Success();
  return ffi::Error(ffi::ErrorCode::kInvalidArgument, "resid: status " + std::to_string(status) + ": " + state.message);
}

} // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(resid_jax_call, call,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<std::string_view>("name")
                                  .Attr<std::string_view>("wide")
                                  .RemainingArgs()
                                  .RemainingRets());

/// Gives the DLPack entry of a compiled function a name. The function must stay loaded.
extern "C" void resid_jax_add(const char *name, void *entry) {
  std::lock_guard<std::mutex> guard(entriesLock);
  entries()[name] = reinterpret_cast<Entry>(entry);
}
