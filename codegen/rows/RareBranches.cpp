// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds rare branches, and passes them what they use.

#include "codegen/rows/RareBranches.h"

#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

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
  return IntegerType::get(type.getContext(), kernels::getMemoryType(type).getIntOrFloatBitWidth());
}

static bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

bool RareFunctions::emitCall(OpBuilder &builder, Block &block, const RareBranchCall &call, EmitBody emit) {
  std::optional<RareBranch> branch = RareBranch::find(block);
  if (!branch)
    return false;
  Location loc = block.getParentOp()->getLoc();
  SmallVector<Value> passed;
  for (rows::LoadOp load : branch->rows)
    passed.push_back(call.getRowPointer(load));
  for (Value scalar : branch->scalars)
    if (Value value = call.mapping.lookup(scalar); !isConstant(value))
      passed.push_back(toMemory(builder, loc, value, getPassedType(value.getType())));
  if (!isConstant(call.width))
    passed.push_back(call.width);
  func::FuncOp &callee = functions[&block];
  if (!callee)
    callee = emitFunction(builder, block, *branch, call, ValueRange(passed).getTypes(), emit);
  assert(llvm::equal(ValueRange(passed).getTypes(), callee.getArgumentTypes()) && "the same is constant everywhere");
  SmallVector<Value> results(func::CallOp::create(builder, loc, callee, passed).getResults());
  for (auto [result, type] : llvm::zip_equal(results, block.getParentOp()->getResultTypes()))
    result = fromMemory(builder, loc, result, type);
  scf::YieldOp::create(builder, loc, results);
  return true;
}

/// The block as a function. What is constant where it is called is made again there.
func::FuncOp RareFunctions::emitFunction(OpBuilder &builder, Block &block, RareBranch &branch,
                                         const RareBranchCall &call, TypeRange arguments, EmitBody emit) {
  Location loc = block.getParentOp()->getLoc();
  func::FuncOp function = create(arguments, llvm::map_to_vector(block.getParentOp()->getResultTypes(), getPassedType));
  OpBuilder::InsertionGuard guard(builder);
  RareBranchBody body;
  body.entry = &function.getBody().front();
  builder.setInsertionPointToStart(body.entry);
  auto next = body.entry->args_begin();
  for (rows::LoadOp load : branch.rows)
    body.rowPointers[load.getRow()] = *next++;
  auto take = [&](Value outside) {
    return isConstant(outside) ? builder.clone(*outside.getDefiningOp())->getResult(0)
                               : fromMemory(builder, loc, *next++, outside.getType());
  };
  for (Value scalar : branch.scalars)
    body.mapping.map(scalar, take(call.mapping.lookup(scalar)));
  body.width = take(call.width);
  emit(body);
  auto yield = cast<scf::YieldOp>(body.entry->getTerminator());
  SmallVector<Value> results(yield.getResults());
  for (Value &result : results)
    result = toMemory(builder, loc, result, getPassedType(result.getType()));
  func::ReturnOp::create(builder, loc, results);
  yield.erase();
  return function;
}
