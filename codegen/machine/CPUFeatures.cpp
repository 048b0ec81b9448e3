// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that asks the processor once and keeps the answer.

#include "codegen/machine/CPUFeatures.h"

#include "codegen/cpu/choice/CPUTarget.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::machine;

FeatureSet mlir::resid::machine::getCheckableFeatures(Architecture architecture) {
  return architecture == Architecture::X86 ? getX86Features() : getAArch64Features();
}

/// Threads may race to store it: all store the same.
static void buildBody(OpBuilder &builder, Location loc, func::FuncOp function, LLVM::GlobalOp state,
                      Architecture architecture, ArrayRef<FeatureSet> featureSets) {
  auto constant = [&](int32_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(value));
  };
  Block *entry = function.addEntryBlock(), *ask = function.addBlock(), *answer = function.addBlock();
  Value number = answer->addArgument(builder.getI32Type(), loc);

  builder.setInsertionPointToStart(entry);
  Value address = LLVM::AddressOfOp::create(builder, loc, state);
  Value stored = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), address, /*alignment=*/4, false, false, false,
                                      false, LLVM::AtomicOrdering::monotonic);
  Value isFirst = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, stored, constant(0));
  cf::CondBranchOp::create(builder, loc, isFirst, ask, ValueRange{}, answer, ValueRange{stored});

  builder.setInsertionPointToStart(ask);
  auto askProcessor = architecture == Architecture::X86 ? askX86 : askAArch64;
  SmallVector<Value> good = askProcessor(builder, loc, function, featureSets);
  Value result = constant(featureSets.size() + 1);
  for (int64_t index = featureSets.size() - 1; index >= 0; --index)
    result = LLVM::SelectOp::create(builder, loc, good[index], constant(index + 1), result);
  LLVM::StoreOp::create(builder, loc, result, address, /*alignment=*/4, false, false, false,
                        LLVM::AtomicOrdering::monotonic);
  cf::BranchOp::create(builder, loc, answer, ValueRange{result});

  builder.setInsertionPointToStart(answer);
  func::ReturnOp::create(builder, loc, number);
}

func::FuncOp mlir::resid::machine::buildCPUChoice(ModuleOp module, Architecture architecture,
                                                  ArrayRef<FeatureSet> featureSets) {
  if (llvm::all_of(featureSets, [](const FeatureSet &features) { return features.empty(); }))
    return nullptr;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto state = LLVM::GlobalOp::create(builder, loc, builder.getI32Type(), /*isConstant=*/false, LLVM::Linkage::Internal,
                                      kCPUStateName, builder.getI32IntegerAttr(0), /*alignment=*/4);
  auto function =
      func::FuncOp::create(builder, loc, kCPUChoiceName, builder.getFunctionType({}, {builder.getI32Type()}));
  function.setPrivate();
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "cold", cpu::kOnceAttribute}));
  buildBody(builder, loc, function, state, architecture, featureSets);
  return function;
}
