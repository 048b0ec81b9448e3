// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/Launch.h"

#include "codegen/cuda/Passes.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// The most blocks that a grid may have. Kernels take rows in turn, so fewer blocks do all the work too.
static constexpr int64_t kMostBlocks = 0x7fffffff;

static LLVM::LLVMFuncOp declare(ModuleOp module, StringRef name, Type result, TypeRange arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, llvm::to_vector(arguments)));
}

static Value getModule(OpBuilder &builder, Location loc, ModuleOp module) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (!module.lookupSymbol(kModuleName)) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto global = LLVM::GlobalOp::create(top, module.getLoc(), top.getI8Type(), /*isConstant=*/false,
                                         LLVM::Linkage::External, kModuleName, Attribute());
    global.setVisibility_(LLVM::Visibility::Hidden);
  }
  return LLVM::AddressOfOp::create(builder, loc, pointer, kModuleName);
}

static Value call(OpBuilder &builder, Location loc, ModuleOp module, StringRef name, ValueRange operands) {
  LLVM::LLVMFuncOp function = declare(module, name, builder.getI32Type(), operands.getTypes());
  return LLVM::CallOp::create(builder, loc, function, operands).getResult();
}

Value cuda::loadModule(OpBuilder &builder, Location loc, ModuleOp module, Value context) {
  return call(builder, loc, module, kLoadName, {context, getModule(builder, loc, module)});
}

/// Memory for one value of this type on the stack of the host, taken once for each call of the function.
static Value allocate(func::FuncOp host, Location loc, Type type) {
  OpBuilder builder = OpBuilder::atBlockBegin(&host.getBody().front());
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::AllocaOp::create(builder, loc, pointer, type, constantI64(builder, loc, 1));
}

/// An array of pointers to the arguments, as drivers take them.
static Value packArguments(OpBuilder &builder, Location loc, func::FuncOp host, ArrayRef<Value> arguments) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value array = allocate(host, loc, LLVM::LLVMArrayType::get(pointer, arguments.size()));
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Type type = argument.getType();
    Type memory = isa<LLVM::LLVMPointerType>(type) ? type : kernels::getMemoryType(type);
    Value place = allocate(host, loc, memory);
    Value stored = memory == type ? argument : toMemory(builder, loc, argument, memory);
    LLVM::StoreOp::create(builder, loc, stored, place);
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, array, ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(builder, loc, place, slot);
  }
  return array;
}

/// Calls the runtime with the context, the module and `more`, and keeps the status.
static LogicalResult callFromHost(Operation *place, func::FuncOp host, StringRef name, ArrayRef<Value> more) {
  OpBuilder builder(place);
  Location loc = place->getLoc();
  auto module = host->getParentOfType<ModuleOp>();
  Value context = findContext(host), status = host.getArguments().back();
  if (!context || !isa<MemRefType>(status.getType()))
    return host.emitError("expected a function with a context and a status cell around what a GPU does");
  SmallVector<Value> operands = {context, getModule(builder, loc, module)};
  llvm::append_range(operands, more);
  Value answer = call(builder, loc, module, name, operands);
  Value before = memref::LoadOp::create(builder, loc, status, ValueRange());
  Value zero = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, before, zero);
  memref::StoreOp::create(builder, loc, arith::SelectOp::create(builder, loc, isFirst, answer, before), status,
                          ValueRange());
  return success();
}

void cuda::markKernel(func::FuncOp function, int64_t number, int64_t threads, int64_t registers) {
  OpBuilder builder(function);
  function->setAttr(kKernelAttribute, builder.getI32IntegerAttr(threads));
  if (registers > 0)
    function->setAttr(kRegistersAttribute, builder.getI32IntegerAttr(registers));
  function->setAttr(kNumberAttribute, builder.getI32IntegerAttr(number));
}

LogicalResult cuda::launchKernel(Operation *place, func::FuncOp host, const Launch &launch) {
  OpBuilder builder(place);
  Location loc = place->getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
  };
  auto narrow = [&](Value number) -> Value {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), number);
  };
  Value most = constantI64(builder, loc, kMostBlocks);
  Value blocks = narrow(arith::MinSIOp::create(builder, loc, launch.blocks, most));
  return callFromHost(place, host, kLaunchName,
                      {constant(launch.kernel), blocks, narrow(launch.threads), constant(/*sharedBytes=*/0),
                       packArguments(builder, loc, host, launch.arguments)});
}

LogicalResult cuda::copyMemory(Operation *place, func::FuncOp host, Value to, Value from, Value bytes) {
  return callFromHost(place, host, kCopyName, {to, from, bytes});
}

LogicalResult cuda::fillMemory(Operation *place, func::FuncOp host, Value to, Value element, Value count) {
  OpBuilder builder(place);
  Location loc = place->getLoc();
  Type memory = kernels::getMemoryType(element.getType());
  unsigned bits = memory.getIntOrFloatBitWidth();
  Value value = toMemory(builder, loc, element, builder.getIntegerType(bits));
  if (bits < 64)
    value = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), value);
  Value bytes = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), bits / 8);
  return callFromHost(place, host, kFillName, {to, value, bytes, count});
}
