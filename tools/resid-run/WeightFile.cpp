// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-run/WeightFile.h"

#include "codegen/boundary/Nibbles.h"
#include "codegen/boundary/Signature.h"
#include "dialect/FunctionAttributes.h"

namespace mlir::resid::run {

using llvm::Error;
using llvm::Expected;

/// The most names that are printed.
static constexpr unsigned mostNames = 8;

Expected<WeightFile> WeightFile::open(llvm::StringRef path, llvm::StringRef prefix) {
  WeightFile file;
  file.path = path.str();
  char text[1024];
  resid_weights *weights = nullptr;
  resid_status status = resid_weights_open(file.path.c_str(), &weights, text, sizeof(text));
  if (status != RESID_OK)
    return makeError(status == RESID_OOM ? tools::ExitMemory : tools::ExitFile, llvm::Twine("--weights: ") + text);
  file.weights.reset(weights);
  if (!prefix.empty() && resid_weights_set_prefix(weights, prefix.str().c_str()) != RESID_OK)
    return makeError(tools::ExitMemory, "--weights-prefix: out of memory");
  return file;
}

Expected<Array> WeightFile::read(func::FuncOp function, unsigned index) {
  auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
  bool isNibbles = type && boundary::isNibbleTensor(type);
  RankedTensorType stored = isNibbles ? boundary::getByteTensor(type) : type;
  llvm::StringRef dtype = stored ? boundary::getCheckpointTypeName(type.getElementType()) : "";
  if (dtype.empty())
    return makeError(tools::ExitUnavailable,
                     describeArgument(function, index) +
                         ": expected an array of f16, bf16, f32, f64, index, i1, i8, i16, i32 or i64, or one of i4 "
                         "with an even last dimension");
  SmallVector<int64_t> shape =
      llvm::map_to_vector(stored.getShape(), [](int64_t size) { return ShapedType::isDynamic(size) ? -1 : size; });
  std::string name = *getWeightName(function, index);
  resid_weight wanted = {name.c_str(), dtype.data(), shape.data(), int32_t(shape.size())}, found;
  const void *data = nullptr;
  char text[1024];
  if (resid_weights_find(weights.get(), &wanted, &found, &data, text, sizeof(text)) != RESID_OK)
    return makeError(tools::ExitProgram, describeArgument(function, index) + ": " + path + ": " + text);
  used.insert(found.name);
  shape.assign(found.shape, found.shape + found.rank);
  if (isNibbles)
    shape.back() *= 2;
  Array array = Array::zeros(type, shape);
  decode(static_cast<const char *>(data), array);
  return array;
}

void WeightFile::printUse(llvm::raw_ostream &stream) const {
  int64_t count = resid_weights_count(weights.get());
  stream << "weights: " << used.size() << " of " << count << " tensors of " << path << " are used";
  unsigned printed = 0;
  for (int64_t index = 0; index != count && printed <= mostNames; ++index) {
    resid_weight tensor;
    resid_weights_get(weights.get(), index, &tensor, nullptr);
    if (used.contains(tensor.name))
      continue;
    stream << (printed == 0 ? "; not used: " : ", ");
    stream << (printed++ == mostNames ? "..." : tensor.name);
  }
  stream << "\n";
}

} // namespace mlir::resid::run
