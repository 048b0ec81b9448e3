// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds rare branches, and emits them on the vector path.

#include "codegen/cpu/rows/RareBranches.h"

#include "codegen/cpu/rows/VectorRows.h"
#include "codegen/rows/ElementMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

std::optional<RareBranch> RareBranch::find(Block &block) {
  bool hasPhase = false, hasStore = false;
  llvm::MapVector<Value, rows::LoadOp> loads;
  SetVector<Value> scalars;
  block.walk([&](Operation *op) {
    hasPhase |= isa<rows::PhaseOp>(op);
    hasStore |= isa<rows::StoreOp>(op);
    if (auto load = dyn_cast<rows::LoadOp>(op))
      loads.insert({load.getRow(), load});
    for (Value operand : op->getOperands())
      if (!block.getParent()->isAncestor(operand.getParentRegion()) && !isa<rows::RowType>(operand.getType()))
        scalars.insert(operand);
  });
  if (!hasPhase || hasStore || !isa<scf::IfOp>(block.getParentOp()))
    return std::nullopt;
  return RareBranch{llvm::to_vector(llvm::make_second_range(loads)), scalars.takeVector()};
}

/// What arguments and results are passed as: bits. LLVM returns some of several floats in registers of the x87, and has
/// holes in what it does with 16-bit ones.
static Type getPassedType(Type type) {
  return IntegerType::get(type.getContext(), rows::getMemoryType(type).getIntOrFloatBitWidth());
}

static bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

void VectorRowEmitter::emitBranch(Block &block) {
  std::optional<RareBranch> branch = rare ? RareBranch::find(block) : std::nullopt;
  if (!branch)
    return emitBlock(block);
  Location loc = block.getParentOp()->getLoc();
  SmallVector<Value> passed;
  for (rows::LoadOp load : branch->rows)
    passed.push_back(getSource(load, rowPointers).pointer);
  for (Value scalar : branch->scalars)
    if (Value value = mapping.lookup(scalar); !isConstant(value))
      passed.push_back(toMemory(builder, loc, value, getPassedType(value.getType())));
  if (!isConstant(addresses.width))
    passed.push_back(addresses.width);
  func::FuncOp &function = rare->functions[&block];
  if (!function)
    function = emitRareFunction(block, *branch, ValueRange(passed).getTypes());
  assert(llvm::equal(ValueRange(passed).getTypes(), function.getArgumentTypes()) && "the same is constant everywhere");
  SmallVector<Value> results(func::CallOp::create(builder, loc, function, passed).getResults());
  for (auto [result, type] : llvm::zip_equal(results, block.getParentOp()->getResultTypes()))
    result = fromMemory(builder, loc, result, type);
  scf::YieldOp::create(builder, loc, results);
}

/// The block as a function. What is constant where it is called is made again there.
func::FuncOp VectorRowEmitter::emitRareFunction(Block &block, RareBranch &branch, TypeRange arguments) {
  Location loc = block.getParentOp()->getLoc();
  func::FuncOp function =
      rare->create(arguments, llvm::map_to_vector(block.getParentOp()->getResultTypes(), getPassedType));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = &function.getBody().front();
  builder.setInsertionPointToStart(body);
  auto next = body->args_begin();
  SmallVector<Value> pointers;
  for (size_t i = 0; i < branch.rows.size(); ++i)
    pointers.push_back(*next++);
  auto take = [&](Value outside) {
    return isConstant(outside) ? builder.clone(*outside.getDefiningOp())->getResult(0)
                               : fromMemory(builder, loc, *next++, outside.getType());
  };
  IRMapping inside;
  for (Value scalar : branch.scalars)
    inside.map(scalar, take(mapping.lookup(scalar)));
  KernelAddresses shape;
  shape.width = take(addresses.width);
  VectorRowEmitter emitter(builder, body, shape, inside, target, /*stream=*/nullptr, /*prefetch=*/false,
                           /*rare=*/nullptr);
  for (auto [load, pointer] : llvm::zip_equal(branch.rows, pointers))
    emitter.setRowPointer(load.getRow(), pointer);
  emitter.emitBlock(block);
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  SmallVector<Value> results(yield.getResults());
  for (Value &result : results)
    result = toMemory(builder, loc, result, getPassedType(result.getType()));
  func::ReturnOp::create(builder, loc, results);
  yield.erase();
  return function;
}
