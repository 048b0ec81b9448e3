// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument list of a compiled function: context; per argument a pointer, its run-time sizes and its row stride, or
// a scalar; per result a pointer and its row stride; the place of the status.

#include "tools/resid-run/KernelCall.h"

#include <algorithm>
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

/// What lies between rows.
static constexpr char kPadding = '\x5A';

void KernelCall::Buffer::write(llvm::ArrayRef<char> contiguous) {
  std::memset(bytes.get(), kPadding, static_cast<size_t>(size()));
  for (int64_t row = 0; row != rows; ++row)
    std::copy_n(contiguous.data() + row * rowBytes, rowBytes, bytes.get() + row * stride);
}

std::vector<char> KernelCall::Buffer::read() const {
  std::vector<char> contiguous;
  for (int64_t row = 0; row != rows; ++row)
    contiguous.insert(contiguous.end(), bytes.get() + row * stride, bytes.get() + row * stride + rowBytes);
  return contiguous;
}

bool KernelCall::arePaddingsIntact() const {
  if (placement.rowPadding == 0)
    return true;
  for (const Buffer &buffer : buffers)
    for (int64_t row = 0; row != buffer.rows; ++row)
      for (int64_t byte = buffer.rowBytes; byte != buffer.stride; ++byte)
        if (buffer.bytes.get()[row * buffer.stride + byte] != kPadding)
          return false;
  return true;
}

Error KernelCall::addBuffer(const Array &array, const boundary::KernelValue &value,
                            llvm::ArrayRef<int64_t> sizesOfArray) {
  Buffer buffer{nullptr, 1, getByteSize(array), getByteSize(array)};
  int64_t width = value.isStrided() ? array.getShape().back() : 0, stride = width + placement.rowPadding;
  if (value.isStrided()) {
    int64_t elementBytes = getElementBytes(array.getElementType());
    buffer.rows = width == 0 ? 0 : array.size() / width;
    buffer.rowBytes = width * elementBytes;
    buffer.stride = stride * elementBytes;
  }
  buffer.bytes.reset(static_cast<char *>(resid_alloc(nullptr, static_cast<size_t>(buffer.size()), 64)));
  if (!buffer.bytes)
    return makeError(tools::ExitMemory, "out of memory");
  std::vector<char> contiguous(static_cast<size_t>(getByteSize(array)));
  encode(array, contiguous.data());
  buffer.write(contiguous);
  push(buffer.bytes.get());
  buffer.slots.push_back(&slots.back());
  for (int64_t size : sizesOfArray)
    push(size);
  if (value.isStrided())
    push(stride);
  buffers.push_back(std::move(buffer));
  return Error::success();
}

bool KernelCall::addInPlace(unsigned result) {
  const boundary::KernelValue &value = signature.results[result];
  for (auto [other, argument] : signature.inPlace) {
    std::optional<size_t> buffer = argumentBuffers[argument];
    if (other != result || !buffer || llvm::is_contained(resultBuffers, *buffer) ||
        signature.arguments[argument].isStrided() != value.isStrided())
      continue;
    Buffer &shared = buffers[*buffer];
    push(shared.bytes.get());
    shared.slots.push_back(&slots.back());
    if (value.isStrided())
      push(shared.stride / value.getElementBytes());
    resultBuffers.push_back(*buffer);
    return true;
  }
  return false;
}

static std::string printValue(std::optional<int64_t> size) { return size ? std::to_string(*size) : "no size"; }

Error KernelCall::readSizes(llvm::ArrayRef<Array> arguments) {
  for (const boundary::SizeParameter &parameter : signature.sizes) {
    const Array &array = arguments[parameter.argument];
    sizes.push_back(getStoredSize(array.getElementType(), array.getShape(), parameter.dimension));
    auto describe = [&](const boundary::SizeParameter &other) {
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
  for (auto [a, b] : signature.equalities) {
    std::optional<int64_t> left = boundary::evaluateSize(a, sizes), right = boundary::evaluateSize(b, sizes);
    if (left && left == right)
      continue;
    auto [size, condition] = signature.describeEquality(a, b);
    return makeError(tools::ExitProgram, "expected " + signature.printSize(size) + " to be " + condition + " but got " +
                                             printValue(boundary::evaluateSize(size, sizes)));
  }
  return Error::success();
}

Error KernelCall::addArguments(llvm::ArrayRef<Array> arguments) {
  for (auto [index, array] : llvm::enumerate(arguments)) {
    if (!array.isTensor()) {
      argumentBuffers.emplace_back();
      uint64_t bits = 0;
      encode(array, reinterpret_cast<char *>(&bits));
      push(bits);
      continue;
    }
    SmallVector<int64_t> ownSizes;
    for (auto [parameter, size] : llvm::zip_equal(signature.sizes, sizes))
      if (parameter.argument == index)
        ownSizes.push_back(size);
    argumentBuffers.push_back(buffers.size());
    if (Error error = addBuffer(array, signature.arguments[index], ownSizes))
      return error;
  }
  return Error::success();
}

Error KernelCall::addResults() {
  for (auto [index, result] : llvm::enumerate(signature.results)) {
    SmallVector<int64_t> shape;
    for (int64_t code : result.shape) {
      boundary::SizeExpr derived = signature.getDerivedSize(code);
      std::optional<int64_t> size = derived     ? boundary::evaluateSize(derived, sizes)
                                    : code >= 0 ? code
                                                : sizes[static_cast<size_t>(-1 - code)];
      if (!size || *size < 0)
        return makeError(tools::ExitProgram, "expected sizes for which '" + result.name + "' has a size of " +
                                                 signature.printSize(derived) + ", but that is " + printValue(size));
      shape.push_back(*size);
    }
    results.push_back(Array::zeros(result.type, shape));
    if (placement.inPlace && addInPlace(static_cast<unsigned>(index)))
      continue;
    resultBuffers.push_back(buffers.size());
    if (Error error = addBuffer(results.back(), result, {}))
      return error;
  }
  return Error::success();
}

Expected<std::unique_ptr<KernelCall>> KernelCall::create(boundary::KernelSignature signature,
                                                         llvm::ArrayRef<Array> arguments,
                                                         const ArrayPlacement &placement) {
  std::unique_ptr<KernelCall> call(new KernelCall(std::move(signature), placement));
  if (Error error = call->readSizes(arguments))
    return std::move(error);
  call->push(static_cast<const resid_ctx *>(nullptr));
  if (Error error = call->addArguments(arguments))
    return std::move(error);
  if (Error error = call->addResults())
    return std::move(error);
  call->push(resid_status(RESID_INTERNAL));
  bool isShared = llvm::any_of(call->buffers, [](const Buffer &buffer) { return buffer.slots.size() > 1; });
  if (placement.inPlace && !isShared)
    return makeError(tools::ExitUsage, "expected a function with results that may lie in arguments beside --in-place, "
                                       "but '" +
                                           call->signature.symbol + "' has none");
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
  for (auto [array, buffer] : llvm::zip_equal(decoded, resultBuffers))
    decode(buffers[buffer].read().data(), array);
  return decoded;
}

SmallVector<llvm::MutableArrayRef<char>> KernelCall::getBytesOfAll() const {
  return llvm::map_to_vector(buffers, [](const Buffer &buffer) {
    return llvm::MutableArrayRef<char>(buffer.bytes.get(), static_cast<size_t>(buffer.size()));
  });
}

SmallVector<llvm::MutableArrayRef<char>> KernelCall::getResultBytes() const {
  SmallVector<llvm::MutableArrayRef<char>> all = getBytesOfAll();
  return llvm::map_to_vector(resultBuffers, [&](size_t buffer) { return all[buffer]; });
}

int64_t KernelCall::getBytes() const {
  int64_t bytes = 0;
  for (const Buffer &buffer : buffers)
    bytes += buffer.size();
  return bytes;
}

} // namespace mlir::resid::run
