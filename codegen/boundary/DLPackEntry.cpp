// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds F_dl, and links the helper that it calls (shared/DLPackRead.c).

#include "codegen/boundary/DLPackEntry.h"

#include "codegen/boundary/EntryCode.h"
#include "codegen/boundary/SharedCode.h"
#include "llvm/IR/IRBuilder.h"

using namespace mlir;
using namespace mlir::resid::boundary;

/// The element type as the 32 bits of a DLDataType: its code, its bits, one lane. Two i4 are an unsigned byte.
static uint32_t getDLType(Type type) {
  enum Code : uint32_t { Int = 0, UInt = 1, Float = 2, BFloat = 4, Bool = 6 };
  unsigned bits = type.isIndex() ? 64 : std::max(8u, type.getIntOrFloatBitWidth());
  Code code = type.isBF16()          ? BFloat
              : isa<FloatType>(type) ? Float
              : type.isInteger(1)    ? Bool
              : type.isInteger(4)    ? UInt
                                     : Int;
  return code | bits << 8 | 1u << 16;
}

namespace {

class DLEntryBuilder {
public:
  DLEntryBuilder(llvm::Module &module, const KernelSignature &signature)
      : signature(signature), module(module), helper(module.getFunction(kDLPackReadName)),
        entry(module.getFunction(signature.symbol)), builder(module.getContext()), i32(builder.getInt32Ty()),
        i64(builder.getInt64Ty()), pointer(builder.getPtrTy()),
        function(llvm::Function::Create(llvm::FunctionType::get(i32, {pointer, pointer, i32}, false),
                                        llvm::GlobalValue::ExternalLinkage, signature.symbol + kDLPackSuffix.str(),
                                        module)) {}

  void build();

private:
  /// Allocates, and builds the block that refuses.
  void begin();
  llvm::Value *getWord(llvm::Value *array, unsigned index) {
    return builder.CreateConstInBoundsGEP1_64(i64, array, index);
  }
  /// The size of a dimension, as KernelValue::shape encodes it; of a run-time one what its array says.
  llvm::Value *getSize(int64_t code);
  /// Answers the status where `condition` is true; `value`, or null, has the number 0 in the text.
  void refuseIf(llvm::Value *condition, resid_status status, const RefusalText &text, llvm::Value *value = nullptr);
  /// Answers what the helper did if that was no 0, about the tensor of a text.
  void refuseTensor(llvm::Value *packed, const RefusalText &tensor);
  llvm::Value *emitRefusal(llvm::Value *refusal, llvm::Value *where, llvm::Value *text, llvm::Value *words) {
    return builder.CreateCall(module.getFunction(kRefuseName), {function->getArg(0), refusal, where, text, words});
  }
  llvm::Value *addText(const RefusalText &text) { return builder.CreateGlobalString(text.getBytes(), "resid.text"); }
  /// How texts call the tensor of this number.
  RefusalText describe(size_t number) const;
  void read(const KernelValue &value, ArrayRef<llvm::Value *> sizes);
  void addArgument(const KernelValue &value);
  /// Puts the address of an array into the struct of weights, which F takes in the place of its first member.
  void addMember(llvm::Value *data);
  void addResult(const KernelValue &value);
  llvm::Value *loadScalar(llvm::Type *type, llvm::Value *address);
  /// Scalars lie in the host's memory, whatever runs kernels.
  DLDeviceType getDLDevice(const KernelValue &value) const {
    return signature.isForDevice && value.isArray() ? kDLCUDA : kDLCPU;
  }

  const KernelSignature &signature;
  llvm::Module &module;
  llvm::Function *helper, *entry;
  llvm::IRBuilder<> builder;
  llvm::Type *i32, *i64, *pointer;
  llvm::Function *function;
  /// The block of all refusals of the helper: the packed one, the tensor.
  llvm::BasicBlock *refusing = nullptr;
  llvm::PHINode *refusal = nullptr, *refusedTensor = nullptr;
  /// What the helper fills for one tensor after the other: its words.
  llvm::AllocaInst *array = nullptr;
  /// Of the tensors that were read: how many, and the sizes of the arguments.
  size_t tensors = 0;
  SmallVector<SmallVector<llvm::Value *>> sizes;
  /// The struct of weights, and how many members it has so far.
  llvm::AllocaInst *weights = nullptr;
  unsigned members = 0;
  SmallVector<llvm::Value *> operands;
};

} // namespace

RefusalText DLEntryBuilder::describe(size_t number) const {
  size_t arguments = signature.arguments.size();
  return number < arguments ? "argument '" + signature.arguments[number].name + "'"
                            : "output '" + signature.results[number - arguments].name + "'";
}

void DLEntryBuilder::refuseIf(llvm::Value *condition, resid_status status, const RefusalText &text,
                              llvm::Value *value) {
  auto *refused = llvm::BasicBlock::Create(builder.getContext(), "", function, refusing);
  auto *next = llvm::BasicBlock::Create(builder.getContext(), "", function, refusing);
  builder.CreateCondBr(condition, refused, next);
  builder.SetInsertPoint(refused);
  if (value)
    builder.CreateStore(value, array);
  builder.CreateRet(emitRefusal(builder.getInt32(packRefusal(status)),
                                addText(signature.symbol + kDLPackSuffix.str() + ": "), addText(text), array));
  builder.SetInsertPoint(next);
}

void DLEntryBuilder::refuseTensor(llvm::Value *packed, const RefusalText &tensor) {
  auto *next = llvm::BasicBlock::Create(builder.getContext(), "", function, refusing);
  refusal->addIncoming(packed, builder.GetInsertBlock());
  refusedTensor->addIncoming(addText(tensor), builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateIsNotNull(packed), refusing, next);
  builder.SetInsertPoint(next);
}

/// The texts of the helper are about the tensor that the fourth word names.
void DLEntryBuilder::begin() {
  size_t count = signature.arguments.size() + signature.results.size(), rank = 0;
  for (const KernelValue &value : llvm::concat<const KernelValue>(signature.arguments, signature.results))
    rank = std::max(rank, value.shape.size());
  auto *first = llvm::BasicBlock::Create(builder.getContext(), "", function);
  refusing = llvm::BasicBlock::Create(builder.getContext(), "", function);
  builder.SetInsertPoint(refusing);
  refusal = builder.CreatePHI(i32, count);
  refusedTensor = builder.CreatePHI(pointer, count);
  llvm::IRBuilder<> atEntry(first);
  array = atEntry.CreateAlloca(llvm::ArrayType::get(i64, 3 + std::max<size_t>(rank, 1)));
  builder.CreateStore(refusedTensor, getWord(array, 3));
  llvm::Value *text = builder.CreateCall(module.getFunction(kDLPackTextName), {refusal, array});
  builder.CreateRet(
      emitRefusal(refusal, addText(RefusalText(signature.symbol + kDLPackSuffix.str() + ": ").string(3)), text, array));
  builder.SetInsertPoint(first);
}

llvm::Value *DLEntryBuilder::getSize(int64_t code) {
  if (code >= 0)
    return builder.getInt64(code);
  auto getParameter = [&](const resid::boundary::SizeParameter &size) { return sizes[size.argument][size.dimension]; };
  if (!signature.getDerivedSize(code))
    return getParameter(signature.sizes[-1 - code]);
  // F itself refuses sizes for which it has no value.
  llvm::Function *derived = module.getFunction(signature.getDerivedSizeName(code));
  return builder.CreateCall(derived, llvm::map_to_vector(signature.sizes, getParameter));
}

void DLEntryBuilder::read(const KernelValue &value, ArrayRef<llvm::Value *> expected) {
  for (auto [dimension, size] : llvm::enumerate(expected))
    builder.CreateStore(size, getWord(array, 2 + dimension));
  llvm::Value *place = builder.CreateConstInBoundsGEP1_64(pointer, function->getArg(1), tensors);
  llvm::Value *packed =
      builder.CreateCall(helper, {builder.CreateLoad(pointer, place), builder.getInt32(getDLDevice(value)),
                                  builder.getInt32(getDLType(value.getElementType())),
                                  builder.getInt32(value.shape.size()), builder.getInt32(value.isStrided()), array});
  refuseTensor(packed, describe(tensors++));
}

llvm::Value *DLEntryBuilder::loadScalar(llvm::Type *type, llvm::Value *address) {
  // A C bool has a whole byte.
  if (type->isIntegerTy(1))
    return builder.CreateIsNotNull(builder.CreateAlignedLoad(builder.getInt8Ty(), address, llvm::Align(1)));
  return builder.CreateAlignedLoad(type, address, llvm::Align(1));
}

void DLEntryBuilder::addArgument(const KernelValue &value) {
  read(value, llvm::map_to_vector(value.shape, [&](int64_t code) -> llvm::Value * {
         return builder.getInt64(std::max<int64_t>(code, -1));
       }));
  llvm::Value *data = builder.CreateLoad(pointer, array);
  SmallVector<llvm::Value *> &own = sizes.emplace_back(value.shape.size());
  for (auto [dimension, code] : llvm::enumerate(value.shape))
    if (code < 0)
      own[dimension] = builder.CreateLoad(i64, getWord(array, 2 + dimension));
  if (!value.isArray()) {
    refuseIf(builder.CreateIsNull(data), RESID_BAD_POINTER,
             describe(tensors - 1).add(": data is NULL, expected a scalar"));
    operands.push_back(loadScalar(entry->getArg(operands.size())->getType(), data));
    return;
  }
  if (value.isMember())
    return addMember(data);
  operands.push_back(data);
  llvm::copy_if(own, std::back_inserter(operands), [](llvm::Value *size) { return size; });
  if (value.isStrided())
    operands.push_back(builder.CreateLoad(i64, getWord(array, 1)));
}

void DLEntryBuilder::addMember(llvm::Value *data) {
  if (!weights) {
    llvm::IRBuilder<> atEntry(&function->getEntryBlock(), function->getEntryBlock().begin());
    unsigned count = llvm::count_if(signature.arguments, [](const KernelValue &value) { return value.isMember(); });
    weights = atEntry.CreateAlloca(llvm::ArrayType::get(pointer, count));
    operands.push_back(weights);
  }
  builder.CreateStore(data, builder.CreateConstInBoundsGEP1_64(pointer, weights, members++));
}

void DLEntryBuilder::addResult(const KernelValue &value) {
  read(value, llvm::map_to_vector(value.shape, [&](int64_t code) { return getSize(code); }));
  operands.push_back(builder.CreateLoad(pointer, array));
  if (value.isStrided())
    operands.push_back(builder.CreateLoad(i64, getWord(array, 1)));
}

void DLEntryBuilder::build() {
  begin();
  size_t count = signature.arguments.size() + signature.results.size();
  llvm::Value *given = function->getArg(2);
  refuseIf(builder.CreateICmpNE(given, builder.getInt32(count)), RESID_BAD_SHAPE,
           RefusalText("n is ").number(0).add(", expected " + std::to_string(count)), builder.CreateSExt(given, i64));
  if (count > 0)
    refuseIf(builder.CreateIsNull(function->getArg(1)), RESID_BAD_POINTER, "args is NULL, expected tensors");
  operands.push_back(function->getArg(0));
  for (const KernelValue &value : signature.arguments)
    addArgument(value);
  for (const KernelValue &value : signature.results)
    addResult(value);
  builder.CreateRet(builder.CreateCall(entry, operands));
}

void mlir::resid::boundary::addDLPackEntries(llvm::Module &module, ArrayRef<KernelSignature> kernels) {
  if (kernels.empty())
    return;
  linkSharedCode(module, "DLPackRead");
  for (const KernelSignature &kernel : kernels)
    DLEntryBuilder(module, kernel).build();
}
