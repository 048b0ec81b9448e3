// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/EntryCode.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::resid::boundary;

void EntryCode::begin(StringRef name, FunctionType type) {
  entry = create<func::FuncOp>(name, type);
  Block *first = entry.addEntryBlock();
  refuse = addBlock();
  refuse->addArgument(getI32Type(), getLoc());
  refuseOverlap = addBlock();
  setInsertionPointToStart(first);
}

void EntryCode::refuseIf(Value condition, resid_status status) {
  Block *next = addBlock();
  create<cf::CondBranchOp>(condition, refuse, ValueRange{constant32(status)}, next, ValueRange{});
  setInsertionPointToStart(next);
}

void EntryCode::branchIf(Value condition, Block *block) {
  Block *next = addBlock();
  create<cf::CondBranchOp>(condition, block, ValueRange{}, next, ValueRange{});
  setInsertionPointToStart(next);
}

/// A function of the module on such operands, whose body comes from elsewhere.
static LLVM::LLVMFuncOp declare(EntryCode &code, StringRef name, TypeRange operands, Type result) {
  if (auto known = code.module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockEnd(code.module.getBody());
  auto function =
      LLVM::LLVMFuncOp::create(builder, code.getLoc(), name,
                               LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(code.getContext()),
                                                           llvm::to_vector(operands)));
  function.setVisibility_(LLVM::Visibility::Hidden);
  return function;
}

Value EntryCode::callShared(StringRef name, ArrayRef<Value> operands, Type result) {
  LLVM::LLVMFuncOp function = declare(*this, name, TypeRange(ValueRange(operands)), result);
  auto call = create<LLVM::CallOp>(function, operands);
  return result ? call.getResult() : Value();
}

func::FuncOp EntryCode::getRefusalFunction(StringRef suffix, TypeRange types) {
  std::string name = signature.symbol + suffix.str();
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(atEnd, getLoc(), name, getFunctionType(types, {getI32Type()}));
  function.setPrivate();
  return function;
}

Value EntryCode::emitValueRefusal(Value refusal, Value value) {
  Type i32 = getI32Type(), i64 = getI64Type();
  func::FuncOp function = getRefusalFunction(kRefuseValueSuffix, {pointerType, i32, i64});
  return create<func::CallOp>(function, ValueRange{context, refusal, value ? value : constant(0)}).getResult(0);
}

void EntryCode::refuseValueIf(Value condition, int32_t refusal, const RefusalText &text, Value value) {
  addRefusal(refusal, text);
  Block *refused = addBlock();
  branchIf(condition, refused);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(refused);
  create<func::ReturnOp>(emitValueRefusal(constant32(refusal), value));
}

Value EntryCode::emitRefusal(Value refusal, const RefusalText &text, ArrayRef<Value> values) {
  return emitRefusal(refusal, addText(text.getBytes()), values);
}

Value EntryCode::emitRefusal(Value refusal, Value text, ArrayRef<Value> values) {
  Value words = allocateWords(values.size());
  for (auto [index, value] : llvm::enumerate(values))
    storeWord(value, words, index);
  Value where = addText(RefusalText(signature.symbol + ": ").getBytes());
  return callShared(kRefuseName, {context, refusal, where, text, words}, getI32Type());
}

void EntryCode::beginRefusalFunction(func::FuncOp function) {
  entry = function;
  setInsertionPointToStart(entry.addEntryBlock());
  context = entry.getArgument(0);
}

/// One text after the other is chosen: no two refusals are packed alike.
void EntryCode::buildValueRefusals() {
  if (valueRefusals.empty())
    return;
  Type i32 = getI32Type(), i64 = getI64Type();
  beginRefusalFunction(getRefusalFunction(kRefuseValueSuffix, {pointerType, i32, i64}));
  Value refusal = entry.getArgument(1), value = entry.getArgument(2), text = addText("");
  for (const auto &[packed, message] : valueRefusals) {
    Value isIt = isEqual(refusal, packed);
    text = select(isIt, addText(message.getBytes()), text);
  }
  create<func::ReturnOp>(emitRefusal(refusal, text, {value, emitProcessors()}));
}

Value EntryCode::emitProcessors() {
  if (!module.lookupSymbol<LLVM::GlobalOp>(kProcessorsName)) {
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    LLVM::GlobalOp::create(atEnd, getLoc(), getI8Type(), /*isConstant=*/true, LLVM::Linkage::External, kProcessorsName,
                           Attribute());
  }
  return create<LLVM::AddressOfOp>(pointerType, kProcessorsName);
}

Value EntryCode::allocateWords(int64_t count) {
  if (count == 0)
    return create<LLVM::ZeroOp>(pointerType);
  OpBuilder atEntry = OpBuilder::atBlockBegin(&entry.getBody().front());
  Value size = arith::ConstantIntOp::create(atEntry, getLoc(), count, 64);
  return LLVM::AllocaOp::create(atEntry, getLoc(), pointerType, getI64Type(), size, /*alignment=*/8);
}

Value EntryCode::getWord(Value words, int64_t index) {
  return create<LLVM::GEPOp>(pointerType, getI64Type(), words, ArrayRef<LLVM::GEPArg>{int32_t(index)});
}

void EntryCode::storeWord(Value value, Value words, int64_t index) {
  create<LLVM::StoreOp>(value, getWord(words, index));
}

Value EntryCode::loadWord(Value words, int64_t index) {
  return create<LLVM::LoadOp>(getI64Type(), getWord(words, index));
}

std::string EntryCode::addConstant(Type type, Attribute value) {
  std::string name = (entry.getSymName() + ".constant_" + Twine(constants++)).str();
  OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
  LLVM::GlobalOp::create(atEnd, getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Private, name, value);
  return name;
}

Value EntryCode::addText(StringRef bytes) {
  std::string &name = texts[bytes];
  if (name.empty()) {
    std::string ended = bytes.str() + '\0';
    name = addConstant(LLVM::LLVMArrayType::get(getI8Type(), ended.size()), getStringAttr(ended));
  }
  return create<LLVM::AddressOfOp>(pointerType, name);
}
ParameterWords::ParameterWords(const KernelSignature &signature) {
  sizes = signature.sizes.size();
  for (const KernelValue &value : llvm::concat<const KernelValue>(signature.arguments, signature.results)) {
    addresses += value.isArray();
    strides += value.isStrided();
  }
}

void EntryCode::storeAddresses() {
  int64_t index = 0;
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(arguments, results))
    if (parameter.type->isArray())
      storeWord(parameter.value, words, index++);
}

void EntryCode::emitArrayRefusal(ValueRange sizes, Value status) {
  if (!words) {
    RefusalText text("one of its arrays or sizes is wrong, of which there are too many to be told apart");
    create<func::ReturnOp>(emitRefusal(status, text));
    return;
  }
  if (!hasAddresses)
    storeAddresses();
  int64_t index = ParameterWords(signature).addresses;
  for (Value size : sizes)
    storeWord(size, words, index++);
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(arguments, results))
    if (parameter.stride)
      storeWord(parameter.stride, words, index++);
  func::FuncOp function = getRefusalFunction(kRefuseArraysSuffix, {pointerType, getI32Type(), pointerType});
  create<func::ReturnOp>(create<func::CallOp>(function, ValueRange{context, status, words}).getResults());
}
