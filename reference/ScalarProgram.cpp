// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar ops applied to whole arrays, and blocks of them as programs. What an op computes stands in ScalarOps.cpp.

#include "reference/ScalarProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::resid::reference {

static Scalar load(const Array &array, int64_t index) {
  Scalar value;
  if (array.isFloat())
    value.number = array.floats()[index];
  else
    value.integer = array.integers()[index];
  return value;
}

/// tensor.extract with indices in registers.
static void runExtract(const Instruction &in, Machine &m) {
  SmallVector<int64_t> strides = in.array.getStrides();
  int64_t offset = 0;
  for (auto [stride, dim, reg] : llvm::zip_equal(strides, in.array.getShape(), in.indices)) {
    int64_t index = m.registers[reg].integer;
    if (index < 0 || index >= dim) {
      m.fault = "an index outside of the tensor";
      return;
    }
    offset += index * stride;
  }
  m.registers[in.result] = load(in.array, offset);
}

static void runAssert(const Instruction &in, Machine &m) {
  if (!m.registers[in.operands[0]].integer)
    m.fault = in.text.c_str();
}

static void runJump(const Instruction &in, Machine &m) { m.next = in.immediate; }

static void runJumpUnless(const Instruction &in, Machine &m) {
  if (!m.registers[in.operands[0]].integer)
    m.next = in.immediate;
}

static void runJumpUnlessEqual(const Instruction &in, Machine &m) {
  if (m.registers[in.operands[0]].integer != m.registers[in.operands[1]].integer)
    m.next = in.immediate;
}

static void runJumpUnlessLess(const Instruction &in, Machine &m) {
  if (m.registers[in.operands[0]].integer >= m.registers[in.operands[1]].integer)
    m.next = in.immediate;
}

/// The counter of a loop.
static void runAdvance(const Instruction &in, Machine &m) {
  int64_t step = m.registers[in.operands[1]].integer;
  if (step <= 0)
    m.fault = "a step below 1";
  else if (llvm::AddOverflow(m.registers[in.operands[0]].integer, step, m.registers[in.operands[0]].integer))
    m.registers[in.operands[0]].integer = INT64_MAX;
}

static void runDim(const Instruction &in, Machine &m) {
  int64_t index = m.registers[in.operands[0]].integer;
  if (index < 0 || index >= in.array.getRank())
    m.fault = "a dimension that the tensor does not have";
  else
    m.registers[in.result].integer = in.array.getShape()[index];
}

static void runCopy(const Instruction &in, Machine &m) { m.registers[in.result] = m.registers[in.operands[0]]; }

unsigned ScalarProgram::getRegister(Value value) {
  if (auto found = assigned.find(value); found != assigned.end())
    return found->second;
  const Array &array = lookup(value);
  tainted |= array.getAccuracy() != nullptr;
  return addRegister(value, load(array, 0));
}

unsigned ScalarProgram::addRegister(Value value, Scalar scalar, std::optional<double> error) {
  unsigned number = initial.size();
  if (value)
    assigned[value] = number;
  initial.push_back(scalar);
  units.push_back(error);
  return number;
}

/// An exact op on inexact values, or an inexact one, may amplify what was lost before.
std::optional<double> ScalarProgram::combineUnits(Operation &op, double own) const {
  for (Value operand : op.getOperands())
    if (units[assigned.lookup(operand)] != 0.0)
      return std::nullopt;
  return own;
}

size_t ScalarProgram::addJump(Instruction::Execute jump, unsigned condition) {
  Instruction in;
  in.execute = jump;
  in.operands[0] = condition;
  instructions.push_back(std::move(in));
  return instructions.size() - 1;
}

/// A branch of a condition: its operations, and what it yields to the registers of the results.
LogicalResult ScalarProgram::addRegion(Operation *op, Region &region, Mode mode) {
  if (region.empty())
    return success();
  for (Operation &operation : region.front().without_terminator())
    if (failed(add(operation, mode)))
      return failure();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), region.front().getTerminator()->getOperands()))
    addCopy(getRegister(value), assigned.lookup(result));
  return success();
}

void ScalarProgram::addCopy(unsigned from, unsigned to) {
  Instruction in;
  in.execute = runCopy;
  in.operands[0] = from;
  in.result = to;
  if (units[from] != 0.0)
    units[to] = std::nullopt;
  instructions.push_back(std::move(in));
}

unsigned ScalarProgram::addInteger(Value value, int64_t integer) {
  Scalar scalar;
  scalar.integer = integer;
  return addRegister(value, scalar);
}

/// A condition that is off may choose another branch, whose value may be far from the right one.
LogicalResult ScalarProgram::addBranch(scf::IfOp op, Mode mode) {
  unsigned condition = getRegister(op.getCondition());
  for (Value result : op.getResults())
    addRegister(result, Scalar{0.0}, units[condition] == 0.0 ? units[condition] : std::nullopt);
  size_t toElse = addJump(runJumpUnless, condition);
  if (failed(addRegion(op, op.getThenRegion(), mode)))
    return failure();
  size_t toEnd = addJump(runJump);
  instructions[toElse].immediate = instructions.size();
  if (failed(addRegion(op, op.getElseRegion(), mode)))
    return failure();
  instructions[toEnd].immediate = instructions.size();
  return success();
}

/// One case after the other is compared with the argument.
LogicalResult ScalarProgram::addSwitch(scf::IndexSwitchOp op, Mode mode) {
  unsigned argument = getRegister(op.getArg());
  for (Value result : op.getResults())
    addRegister(result, Scalar{0.0});
  SmallVector<size_t> toEnd;
  for (auto [number, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
    size_t toNext = addJump(runJumpUnlessEqual, argument);
    instructions[toNext].operands[1] = addInteger(Value(), number);
    if (failed(addRegion(op, region, mode)))
      return failure();
    toEnd.push_back(addJump(runJump));
    instructions[toNext].immediate = instructions.size();
  }
  if (failed(addRegion(op, op.getDefaultRegion(), mode)))
    return failure();
  for (size_t jump : toEnd)
    instructions[jump].immediate = instructions.size();
  return success();
}

/// What a turn yields goes to registers of its own first, since it may read what the next turn gets. An inexact value
/// that is carried may be amplified in each turn.
LogicalResult ScalarProgram::addLoop(scf::ForOp op, Mode mode) {
  unsigned upper = getRegister(op.getUpperBound()), step = getRegister(op.getStep());
  unsigned counter = addRegister(op.getInductionVar(), Scalar{0.0});
  addCopy(getRegister(op.getLowerBound()), counter);
  for (auto [init, carried, result] : llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs(), op.getResults()))
    addCopy(getRegister(init), assigned[result] = addRegister(carried, Scalar{0.0}, std::nullopt));
  size_t start = addJump(runJumpUnlessLess, counter);
  instructions[start].operands[1] = upper;
  SmallVector<unsigned> next;
  for (Operation &operation : op.getBody()->without_terminator())
    if (failed(add(operation, mode)))
      return failure();
  for (Value yielded : op.getBody()->getTerminator()->getOperands()) {
    next.push_back(addRegister(Value(), Scalar{0.0}));
    addCopy(getRegister(yielded), next.back());
  }
  for (auto [value, carried] : llvm::zip_equal(next, op.getRegionIterArgs()))
    addCopy(value, assigned.lookup(carried));
  Instruction advance;
  advance.execute = runAdvance;
  advance.operands = {counter, step, 0};
  instructions.push_back(std::move(advance));
  instructions[addJump(runJump)].immediate = start;
  instructions[start].immediate = instructions.size();
  return success();
}

bool ScalarProgram::addKnown(Operation &op) {
  if (auto constant = dyn_cast<index::ConstantOp>(op))
    addInteger(constant, constant.getValue().getSExtValue());
  else if (auto truth = dyn_cast<index::BoolConstantOp>(op))
    addInteger(truth, truth.getValue());
  else if (isa<index::SizeOfOp>(op))
    addInteger(op.getResult(0), 64);
  else if (auto rank = dyn_cast<tensor::RankOp>(op))
    addInteger(rank, lookup(rank.getTensor()).getRank());
  else
    return false;
  return true;
}

LogicalResult ScalarProgram::add(Operation &op, Mode mode) {
  if (op.hasTrait<OpTrait::IsTerminator>()) {
    for (Value operand : op.getOperands()) {
      yields.push_back(getRegister(operand));
      yieldUnits.push_back(units[yields.back()]);
    }
    return success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return addBranch(branch, mode);
  if (auto branches = dyn_cast<scf::IndexSwitchOp>(op))
    return addSwitch(branches, mode);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addLoop(loop, mode);
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op); region && region.getRegion().hasOneBlock()) {
    for (Value result : op.getResults())
      addRegister(result, Scalar{0.0});
    return addRegion(&op, region.getRegion(), mode);
  }
  if (addKnown(op) || addAffine(op))
    return success();
  Instruction in;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Array value = Array::fromAttribute(constant.getValue());
    if (!value || value.isTensor())
      return op.emitOpError("is not supported by the reference evaluator inside of a body");
    addRegister(constant, load(value, 0));
    return success();
  }
  if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
    in.execute = runAssert;
    in.operands[0] = getRegister(assertion.getArg());
    in.text = ("an assertion that fails: " + assertion.getMsg()).str();
    instructions.push_back(std::move(in));
    return success();
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    in.execute = runExtract;
    in.array = lookup(extract.getTensor());
    tainted |= in.array.getAccuracy() != nullptr;
    for (Value index : extract.getIndices())
      in.indices.push_back(getRegister(index));
  } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    in.execute = runDim;
    in.array = lookup(dim.getSource());
    in.operands[0] = getRegister(dim.getIndex());
  } else {
    return addArithmetic(op, mode);
  }
  in.result = addRegister(op.getResult(0), Scalar{0.0}, in.units);
  instructions.push_back(std::move(in));
  return success();
}

/// One instruction for each result.
LogicalResult ScalarProgram::addArithmetic(Operation &op, Mode mode) {
  for (OpResult result : op.getResults()) {
    Instruction in;
    if (op.getNumRegions() || failed(selectInstruction(&op, result.getResultNumber(), mode, in)))
      return op.emitOpError("is not supported by the reference evaluator inside of a body");
    for (auto [reg, operand] : llvm::zip(in.operands, op.getOperands()))
      reg = getRegister(operand);
    in.result = addRegister(result, Scalar{0.0}, combineUnits(op, in.units));
    instructions.push_back(std::move(in));
  }
  return success();
}

FailureOr<ScalarProgram> ScalarProgram::compile(Block &block, Mode mode,
                                                llvm::function_ref<const Array &(Value)> lookup) {
  ScalarProgram program;
  program.lookup = lookup;
  for (BlockArgument argument : block.getArguments())
    program.addRegister(argument, Scalar{0.0});
  for (Operation &op : block)
    if (failed(program.add(op, mode)))
      return failure();
  program.lookup = nullptr;
  return program;
}

FailureOr<ScalarProgram> ScalarProgram::compile(Operation &op, Mode mode,
                                                llvm::function_ref<const Array &(Value)> lookup) {
  ScalarProgram program;
  program.lookup = lookup;
  if (failed(program.add(op, mode)))
    return failure();
  program.lookup = nullptr;
  return program;
}

Machine ScalarProgram::start() const {
  Machine machine;
  machine.registers = initial;
  return machine;
}

std::shared_ptr<const Accuracy> getAccuracyInUnits(const Array &values, double units) {
  Accuracy accuracy{Accuracy::Bounded, {}};
  FloatKind kind = values.floatKind();
  for (double value : values.floats())
    accuracy.bounds.push_back(units * unitInLastPlace(kind, value));
  return std::make_shared<const Accuracy>(std::move(accuracy));
}

FailureOr<Array> evaluateElementwise(OpResult value, const Instruction &instruction, ArrayRef<Array> operands,
                                     ArrayRef<int64_t> shape) {
  Array result = Array::zeros(value.getType(), shape);
  Instruction in = instruction;
  Machine machine;
  machine.registers.resize(4);
  in.operands = {0, 1, 2};
  in.result = 3;
  double *floats = result.isFloat() ? result.mutableFloats().data() : nullptr;
  int64_t *integers = result.isFloat() ? nullptr : result.mutableIntegers().data();
  for (int64_t i = 0, e = result.size(); i != e; ++i) {
    // A scalar beside tensors is the condition of a select.
    for (size_t k = 0; k != operands.size(); ++k)
      machine.registers[k] = load(operands[k], operands[k].isTensor() ? i : 0);
    in.execute(in, machine);
    if (floats)
      floats[i] = machine.registers[3].number;
    else
      integers[i] = machine.registers[3].integer;
  }
  if (machine.fault)
    return value.getOwner()->emitOpError() << "meets " << machine.fault;
  return result;
}

} // namespace mlir::resid::reference
