// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds F_dl, and links the helper that it calls (DLPackRead.ll).

#include "codegen/boundary/DLPackEntry.h"

#include "codegen/boundary/DLPackRead.inc"
#include "codegen/boundary/EntryCode.h"
#include "codegen/boundary/Refusals.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::resid::boundary;

static void linkHelper(llvm::Module &module) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> helper = llvm::parseAssemblyString(kDLPackRead, error, module.getContext());
  assert(helper && "expected the helper's text to parse");
  helper->setTargetTriple(module.getTargetTriple());
  helper->setDataLayout(module.getDataLayout());
  [[maybe_unused]] bool failed = llvm::Linker::linkModules(module, std::move(helper));
  assert(!failed && "expected nothing else of the helper's name");
}

/// The element type as the 32 bits of a DLDataType: its code, its bits, one lane.
static uint32_t getDLType(Type type) {
  enum Code : uint32_t { Int = 0, Float = 2, BFloat = 4, Bool = 6 };
  unsigned bits = type.isIndex() ? 64 : std::max(8u, type.getIntOrFloatBitWidth());
  Code code = type.isBF16() ? BFloat : isa<FloatType>(type) ? Float : type.isInteger(1) ? Bool : Int;
  return code | bits << 8 | 1u << 16;
}

namespace {

class DLEntryBuilder {
public:
  DLEntryBuilder(llvm::Module &module, const KernelSignature &signature, llvm::Constant *refusals)
      : signature(signature), module(module), refusals(refusals), helper(module.getFunction(kDLPackReadName)),
        entry(module.getFunction(signature.symbol)), builder(module.getContext()), i32(builder.getInt32Ty()),
        i64(builder.getInt64Ty()), pointer(builder.getPtrTy()),
        function(llvm::Function::Create(llvm::FunctionType::get(i32, {pointer, pointer, i32}, false),
                                        llvm::GlobalValue::ExternalLinkage, signature.symbol + kDLPackSuffix.str(),
                                        module)) {}

  void build();

private:
  /// A place for the first element, the distance of rows and the sizes: the helper's %Array.
  llvm::Value *allocate(const KernelValue &value);
  llvm::Value *getWord(llvm::Value *array, unsigned index) {
    return builder.CreateConstInBoundsGEP1_64(i64, array, index);
  }
  /// The size of a dimension, as KernelValue::shape encodes it; of a run-time one what its array says.
  llvm::Value *getSize(int64_t code);
  /// Refuses as packed (RefusalProgram.h). `value`: the number of the argument, or of tensors; `words`: what was found
  /// and expected, or null.
  void refuseIf(llvm::Value *condition, llvm::Value *refusal, llvm::Value *value, llvm::Value *words = nullptr);
  void refuseIf(llvm::Value *condition, resid_status status, Reason reason, llvm::Value *value) {
    refuseIf(condition, builder.getInt32(packRefusal(status, reason)), value);
  }
  void buildRefusal();
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
  llvm::Constant *refusals;
  llvm::Function *helper, *entry;
  llvm::IRBuilder<> builder;
  llvm::Type *i32, *i64, *pointer;
  llvm::Function *function;
  /// The block of all refusals: the packed one, its value, its words.
  llvm::BasicBlock *refusing = nullptr;
  llvm::PHINode *refusal = nullptr, *refusedValue = nullptr, *refusedWords = nullptr;
  /// One per argument and result.
  SmallVector<llvm::Value *> arrays;
  /// The struct of weights, and how many members it has so far.
  llvm::AllocaInst *weights = nullptr;
  unsigned members = 0;
  SmallVector<llvm::Value *> operands;
};

} // namespace

void DLEntryBuilder::refuseIf(llvm::Value *condition, llvm::Value *packed, llvm::Value *value, llvm::Value *words) {
  auto *next = llvm::BasicBlock::Create(builder.getContext(), "", function, refusing);
  refusal->addIncoming(packed, builder.GetInsertBlock());
  refusedValue->addIncoming(value, builder.GetInsertBlock());
  refusedWords->addIncoming(words ? words : llvm::ConstantPointerNull::get(builder.getPtrTy()),
                            builder.GetInsertBlock());
  builder.CreateCondBr(condition, refusing, next);
  builder.SetInsertPoint(next);
}

void DLEntryBuilder::buildRefusal() {
  refusing = llvm::BasicBlock::Create(builder.getContext(), "", function);
  builder.SetInsertPoint(refusing);
  size_t count = signature.arguments.size() + signature.results.size() + 2;
  refusal = builder.CreatePHI(i32, count);
  refusedValue = builder.CreatePHI(i64, count);
  refusedWords = builder.CreatePHI(pointer, count);
  llvm::Constant *prefix = addProgram(module, makeDLPackPrefix(signature, function->getName()));
  builder.CreateRet(builder.CreateCall(module.getFunction(kRefuseName),
                                       {function->getArg(0), refusal, refusedValue, refusedWords, prefix, refusals}));
}

llvm::Value *DLEntryBuilder::allocate(const KernelValue &value) {
  llvm::IRBuilder<> atEntry(&function->getEntryBlock(), function->getEntryBlock().begin());
  return atEntry.CreateAlloca(llvm::ArrayType::get(i64, 2 + value.shape.size()));
}

llvm::Value *DLEntryBuilder::getSize(int64_t code) {
  if (code >= 0)
    return builder.getInt64(code);
  auto load = [&](const resid::boundary::SizeParameter &size) -> llvm::Value * {
    return builder.CreateLoad(i64, getWord(arrays[size.argument], 2 + size.dimension));
  };
  if (!signature.getDerivedSize(code))
    return load(signature.sizes[-1 - code]);
  // F itself refuses sizes for which it has no value.
  llvm::Function *derived = module.getFunction(signature.getDerivedSizeName(code));
  return builder.CreateCall(derived, llvm::map_to_vector(signature.sizes, load));
}

void DLEntryBuilder::read(const KernelValue &value, ArrayRef<llvm::Value *> sizes) {
  llvm::Value *array = allocate(value);
  for (auto [dimension, size] : llvm::enumerate(sizes))
    builder.CreateStore(size, getWord(array, 2 + dimension));
  llvm::Value *place = builder.CreateConstInBoundsGEP1_64(pointer, function->getArg(1), arrays.size());
  llvm::Value *packed =
      builder.CreateCall(helper, {builder.CreateLoad(pointer, place), builder.getInt32(getDLDevice(value)),
                                  builder.getInt32(getDLType(value.getElementType())),
                                  builder.getInt32(value.shape.size()), builder.getInt1(value.isStrided()), array});
  refuseIf(builder.CreateIsNotNull(packed), packed, builder.getInt64(arrays.size()), array);
  arrays.push_back(array);
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
  llvm::Value *array = arrays.back(), *data = builder.CreateLoad(pointer, array);
  if (!value.isArray()) {
    refuseIf(builder.CreateIsNull(data), RESID_BAD_POINTER, NullScalar, builder.getInt64(arrays.size() - 1));
    operands.push_back(loadScalar(entry->getArg(operands.size())->getType(), data));
    return;
  }
  if (value.isMember())
    return addMember(data);
  operands.push_back(data);
  for (auto [dimension, code] : llvm::enumerate(value.shape))
    if (code < 0)
      operands.push_back(builder.CreateLoad(i64, getWord(array, 2 + dimension)));
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
  operands.push_back(builder.CreateLoad(pointer, arrays.back()));
  if (value.isStrided())
    operands.push_back(builder.CreateLoad(i64, getWord(arrays.back(), 1)));
}

void DLEntryBuilder::build() {
  auto *first = llvm::BasicBlock::Create(builder.getContext(), "", function);
  size_t count = signature.arguments.size() + signature.results.size();
  buildRefusal();
  builder.SetInsertPoint(first);
  llvm::Value *given = function->getArg(2);
  refuseIf(builder.CreateICmpNE(given, builder.getInt32(count)), RESID_BAD_SHAPE, OtherCount,
           builder.CreateSExt(given, i64));
  if (count > 0)
    refuseIf(builder.CreateIsNull(function->getArg(1)), RESID_BAD_POINTER, NullTensors, builder.getInt64(0));
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
  linkHelper(module);
  llvm::Constant *refusals = addProgram(module, makeDLPackRefusals());
  for (const KernelSignature &kernel : kernels)
    DLEntryBuilder(module, kernel, refusals).build();
}
