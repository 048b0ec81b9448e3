// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar operations (arith, math) as instructions on registers, and the bodies of linalg ops as straight lists of them.

#ifndef RESID_REFERENCE_SCALARPROGRAM_H
#define RESID_REFERENCE_SCALARPROGRAM_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "reference/Evaluator.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <optional>

namespace mlir::resid::reference {

/// One register: a float of any kind as a double, or an integer in the form of wrapInteger.
union Scalar {
  double number;
  int64_t integer;
};

/// What a running program sees besides its registers.
struct Machine {
  std::vector<Scalar> registers;
  ArrayRef<int64_t> loopIndices;
  /// The number of the instruction that comes next.
  size_t next = 0;
  /// Why the program went wrong, null while it did not.
  const char *fault = nullptr;
};

struct Instruction {
  using Execute = void (*)(const Instruction &, Machine &);
  Execute execute = nullptr;
  std::array<unsigned, 3> operands = {0, 0, 0};
  unsigned result = 0;
  /// The float kind of the result (of the operand where the result is no float).
  FloatKind kind = FloatKind::F64;
  /// Whether the result is rounded to `kind`: always in exact-type mode, never in wide mode.
  bool rounds = true;
  /// By how many units in the last place a compiled result may be off; 0 where it is the same to the last bit.
  double units = 0.0;
  /// Bits of an integer operand and result; an index has 64.
  unsigned operandWidth = 64, resultWidth = 64;
  /// A comparison's predicate, a loop's number, or where a jump goes.
  int64_t immediate = 0;
  /// The function that `execute` applies; which member depends on it.
  union {
    double (*unary)(double);
    double (*binary)(double, double);
    bool (*classify)(double);
    int64_t (*integer)(int64_t, int64_t, unsigned width, const char *&fault);
  };
  /// tensor.extract: what is indexed, and the registers of its indices.
  Array array;
  SmallVector<unsigned, 4> indices;
  /// cf.assert: what fails.
  std::string text;
  /// affine.apply, min and max: what is computed of the integers in `indices`; `immediate` says whether the least or
  /// the greatest result counts.
  AffineMap map;

  Instruction() : unary(nullptr) {}
  double round(double value) const { return rounds ? roundTo(kind, value) : value; }
};

/// Fills in all but the registers, for one result; fails (without a diagnostic) where `op` is no supported scalar
/// operation.
LogicalResult selectInstruction(Operation *op, unsigned result, Mode mode, Instruction &instruction);

/// A block of scalar operations, with assertions and branches. Registers 0 … n-1 hold the block's arguments.
class ScalarProgram {
public:
  /// `lookup` gives values from above the block. Unsupported ops are diagnosed.
  static FailureOr<ScalarProgram> compile(Block &block, Mode mode, llvm::function_ref<const Array &(Value)> lookup);

  /// One operation, whose results the registers of its values then hold.
  static FailureOr<ScalarProgram> compile(Operation &op, Mode mode, llvm::function_ref<const Array &(Value)> lookup);

  Machine start() const;
  /// Runs once; the arguments have been written to the first registers.
  void run(Machine &machine) const {
    for (machine.next = 0; machine.next != instructions.size() && !machine.fault;) {
      const Instruction &instruction = instructions[machine.next++];
      instruction.execute(instruction, machine);
    }
  }
  /// The registers that the terminator yields.
  ArrayRef<unsigned> yielded() const { return yields; }
  /// By how many units in the last place the yielded values of compiled code may be off: 0 where they are bit-equal,
  /// none where one inexact operation reads what another gives.
  ArrayRef<std::optional<double>> yieldedUnits() const { return yieldUnits; }
  /// A value of the block, or one that it captures: its register, and what yieldedUnits says of results.
  unsigned registerOf(Value value) const { return assigned.lookup(value); }
  std::optional<double> unitsOf(Value value) const { return units[registerOf(value)]; }
  /// Whether a captured value was not exact itself.
  bool isTainted() const { return tainted; }

private:
  LogicalResult add(Operation &op, Mode mode);
  LogicalResult addBranch(scf::IfOp op, Mode mode);
  LogicalResult addSwitch(scf::IndexSwitchOp op, Mode mode);
  LogicalResult addLoop(scf::ForOp op, Mode mode);
  LogicalResult addRegion(Operation *op, Region &region, Mode mode);
  /// Sizes, constants and what else is known before the program runs; false where `op` is nothing of that.
  bool addKnown(Operation &op);
  LogicalResult addArithmetic(Operation &op, Mode mode);
  /// affine.apply, min, max, linearize_index and delinearize_index (AffineIndices.cpp); false for other ops.
  bool addAffine(Operation &op);
  void addCopy(unsigned from, unsigned to);
  unsigned addInteger(Value value, int64_t integer);
  size_t addJump(Instruction::Execute jump, unsigned condition = 0);
  unsigned getRegister(Value value);
  unsigned addRegister(Value value, Scalar scalar, std::optional<double> error = 0.0);
  std::optional<double> combineUnits(Operation &op, double own) const;

  llvm::function_ref<const Array &(Value)> lookup;
  std::vector<Instruction> instructions;
  std::vector<Scalar> initial;
  /// For each register what yieldedUnits says of results.
  std::vector<std::optional<double>> units;
  DenseMap<Value, unsigned> assigned;
  SmallVector<unsigned, 4> yields;
  SmallVector<std::optional<double>, 4> yieldUnits;
  bool tainted = false;
};

/// The accuracy of results each of which may be off by so many units in the last place.
std::shared_ptr<const Accuracy> getAccuracyInUnits(const Array &values, double units);

/// A result of an op of arith or math applied to scalars, or element by element to tensors of one shape.
FailureOr<Array> evaluateElementwise(OpResult value, const Instruction &instruction, ArrayRef<Array> operands,
                                     ArrayRef<int64_t> shape);

} // namespace mlir::resid::reference

#endif
