// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/KernelTraffic.h"

#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/ColumnMoves.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

void ByteCount::add(std::vector<std::string> sizes, int64_t factor) {
  llvm::sort(sizes);
  if (factor != 0)
    terms[sizes] += factor;
}

ByteCount &ByteCount::operator+=(const ByteCount &other) {
  for (const auto &[sizes, factor] : other.terms)
    terms[sizes] += factor;
  return *this;
}

std::optional<int64_t> ByteCount::getNumber() const {
  if (terms.empty())
    return 0;
  return terms.size() == 1 && terms.begin()->first.empty() ? std::optional(terms.begin()->second) : std::nullopt;
}

std::string ByteCount::print() const {
  std::string text;
  // Products before the plain number.
  for (const auto &[sizes, factor] : llvm::reverse(terms)) {
    text += (text.empty() ? "" : " + ") + std::to_string(factor);
    for (const std::string &size : sizes)
      text += "*" + size;
  }
  return text.empty() ? "0" : text;
}

/// Operand `i` of inputs followed by inits.
static Value getOperand(KernelOp kernel, unsigned i) {
  unsigned inputs = kernel.getInputs().size();
  return i < inputs ? kernel.getInputs()[i] : kernel.getInits()[i - inputs];
}

/// Whether the operand's rows are those of another one, which are read at other columns too.
static bool isReadAlready(KernelOp kernel, unsigned operand) {
  return kernel.getMove(operand) &&
         llvm::any_of(llvm::seq<unsigned>(0, kernel.getInputs().size()), [&](unsigned other) {
           return kernel.getInputs()[other] == kernel.getInputs()[operand] &&
                  kernel.getIndexingMap(other) == undoMove(kernel.getIndexingMap(operand));
         });
}

/// Bytes of what the operand's map covers of the kernel's space.
static ByteCount countBytes(KernelOp kernel, unsigned operand, function_ref<std::string(Value)> nameSize) {
  SmallVector<Value> space(kernel.getRowDims());
  llvm::append_range(space, kernel.getColumnDims());
  auto row = cast<RowType>(kernel.getRowArgument(operand).getType());
  int64_t factor = getElementBytes(row.getElementType());
  std::vector<std::string> sizes;
  auto type = cast<ShapedType>(getOperand(kernel, operand).getType());
  for (auto [position, result] : llvm::enumerate(kernel.getIndexingMap(operand).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    APInt known;
    if (!dim) {
      factor *= type.getDimSize(position); // a broadcast size of 1, or that of a row which is read at other columns
      continue;
    }
    if (matchPattern(space[dim.getPosition()], m_ConstantInt(&known)))
      factor *= known.getSExtValue();
    else
      sizes.push_back(nameSize(space[dim.getPosition()]));
  }
  ByteCount bytes;
  bytes.add(std::move(sizes), factor);
  return bytes;
}

/// Whether every row comes through the op.
static bool isOnEveryRow(Operation *op, KernelOp kernel) {
  Operation *parent = op->getParentOp();
  return parent == kernel || (isa<PhaseOp>(parent) && parent->getParentOp() == kernel);
}

SmallVector<OperandTraffic> rows::measureTraffic(KernelOp kernel, function_ref<std::string(Value size)> nameSize) {
  SmallVector<OperandTraffic> operands;
  unsigned inputs = kernel.getInputs().size();
  for (unsigned i = 0; i < inputs + kernel.getInits().size(); ++i) {
    if (isReadAlready(kernel, i))
      continue;
    OperandTraffic operand;
    operand.isOutput = i >= inputs;
    operand.tensor = !operand.isOutput            ? kernel.getInputs()[i]
                     : kernel.getNumResults() > 0 ? Value(kernel.getResult(i - inputs))
                                                  : kernel.getInits()[i - inputs]; // on buffers
    operand.bytes = countBytes(kernel, i, nameSize);
    DenseSet<Operation *> loading, storing; // phases, or the kernel itself
    for (Operation *user : kernel.getRowArgument(i).getUsers())
      if (isOnEveryRow(user, kernel))
        (isa<LoadOp>(user) ? loading : storing).insert(user->getParentOp());
    operand.loads = loading.size();
    operand.stores = storing.size();
    operands.push_back(operand);
  }
  return operands;
}
