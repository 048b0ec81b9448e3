// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument list of a compiled function: context; per argument a pointer and its run-time sizes, or a scalar; a
// pointer per result; the place of the status.

#include "tools/resid-run/KernelCall.h"
#include <cstring>

namespace mlir::resid::run {

using llvm::Error;
using llvm::Expected;

template <typename Value> void KernelCall::push(Value value) {
  static_assert(sizeof(Value) <= sizeof(uint64_t), "C arguments are scalars and pointers");
  slots.push_back(0);
  std::memcpy(&slots.back(), &value, sizeof(value));
  packed.push_back(&slots.back());
}

Expected<void *> KernelCall::addBuffer(int64_t bytes) {
  buffers.emplace_back(resid_alloc(nullptr, static_cast<size_t>(bytes), 64));
  if (!buffers.back())
    return makeError(tools::ExitMemory, "out of memory");
  return buffers.back().get();
}

Error KernelCall::readSizes(llvm::ArrayRef<Array> arguments) {
  for (const emit::SizeParameter &parameter : signature.sizes) {
    sizes.push_back(arguments[parameter.argument].getShape()[parameter.dimension]);
    auto describe = [&](const emit::SizeParameter &other) {
      return "dimension " + std::to_string(other.dimension) + " of argument " + std::to_string(other.argument) + " ('" +
             signature.arguments[other.argument].name + "')";
    };
    if (parameter.fixed >= 0 && sizes.back() != parameter.fixed)
      return makeError(tools::ExitProgram, "expected " + describe(parameter) + " to be " +
                                               llvm::Twine(parameter.fixed) + " but got " + llvm::Twine(sizes.back()));
    if (sizes.back() != sizes[parameter.sameAs])
      return makeError(tools::ExitProgram, "expected " + describe(parameter) + " to be that of " +
                                               describe(signature.sizes[parameter.sameAs]) + ", " +
                                               llvm::Twine(sizes[parameter.sameAs]) + ", but got " +
                                               llvm::Twine(sizes.back()));
  }
  return Error::success();
}

Error KernelCall::addArguments(llvm::ArrayRef<Array> arguments) {
  for (auto [index, array] : llvm::enumerate(arguments)) {
    if (!array.isTensor()) {
      uint64_t bits = 0;
      encode(array, reinterpret_cast<char *>(&bits));
      push(bits);
      continue;
    }
    Expected<void *> buffer = addBuffer(getByteSize(array));
    if (!buffer)
      return buffer.takeError();
    encode(array, static_cast<char *>(*buffer));
    push(*buffer);
    for (auto [parameter, size] : llvm::zip_equal(signature.sizes, sizes))
      if (parameter.argument == index)
        push(size);
  }
  return Error::success();
}

Error KernelCall::addResults() {
  for (const emit::KernelValue &result : signature.results) {
    SmallVector<int64_t> shape = llvm::map_to_vector(
        result.shape, [&](int64_t size) { return size >= 0 ? size : sizes[static_cast<size_t>(-1 - size)]; });
    results.push_back(Array::zeros(result.type, shape));
    Expected<void *> buffer = addBuffer(getByteSize(results.back()));
    if (!buffer)
      return buffer.takeError();
    resultBytes.push_back(static_cast<const char *>(*buffer));
    push(*buffer);
  }
  return Error::success();
}

Expected<std::unique_ptr<KernelCall>> KernelCall::create(emit::KernelSignature signature,
                                                         llvm::ArrayRef<Array> arguments) {
  std::unique_ptr<KernelCall> call(new KernelCall(std::move(signature)));
  if (Error error = call->readSizes(arguments))
    return std::move(error);
  call->push(static_cast<const resid_ctx *>(nullptr));
  if (Error error = call->addArguments(arguments))
    return std::move(error);
  if (Error error = call->addResults())
    return std::move(error);
  call->push(resid_status(RESID_INTERNAL));
  return call;
}

resid_status KernelCall::call(LoadedObject::PackedFunction function, const resid_ctx &context) {
  const resid_ctx *pointer = &context;
  std::memcpy(packed.front(), &pointer, sizeof(pointer));
  function(packed.data());
  resid_status status;
  std::memcpy(&status, packed.back(), sizeof(status));
  return status;
}

std::vector<Array> KernelCall::getResults() const {
  std::vector<Array> decoded = results;
  for (auto [array, bytes] : llvm::zip_equal(decoded, resultBytes))
    decode(bytes, array);
  return decoded;
}

} // namespace mlir::resid::run
