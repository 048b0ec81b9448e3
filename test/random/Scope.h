// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a generated op gets its weights, run-time integers and earlier values from: the arguments of a function, slices
// of stacked arguments in a loop, or captures of what stands above. Makes no op of the residual stream.

#ifndef RESID_TEST_RANDOM_SCOPE_H
#define RESID_TEST_RANDOM_SCOPE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "test/random/Program.h"
#include "test/random/Random.h"

namespace mlir::resid::random {

/// A size at run time, and whether the type leaves it open.
struct Dim {
  int64_t size;
  bool isDynamic;
};
using Dims = SmallVector<Dim, 4>;

RankedTensorType getType(ArrayRef<Dim> dims, Type element);

/// A value of which the sizes at run time are known.
struct Stream {
  Value value;
  Dims dims;

  Type getElement() const { return cast<RankedTensorType>(value.getType()).getElementType(); }
  RankedTensorType getType() const { return cast<RankedTensorType>(value.getType()); }
  int64_t getRank() const { return static_cast<int64_t>(dims.size()); }
  Stream with(Value other) const { return {other, dims}; }
};

/// A place where ops are made. Everything it hands out dominates the insertion point of `builder`.
class Scope {
public:
  Scope(Random &random, OpBuilder builder) : random(random), builder(builder) {}
  virtual ~Scope() = default;

  /// A weight; its values are normal times `scale`. Equal requests may get the same weight. Ops that it takes are made
  /// with `at`, which is this scope's builder or that of a region inside.
  virtual Value weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) = 0;
  Value weight(ArrayRef<Dim> dims, Type element, double scale = 1.0) { return weight(builder, dims, element, scale); }
  /// An i64 with this value at run time.
  virtual Value integer(OpBuilder &at, int64_t value) = 0;
  Value integer(int64_t value) { return integer(builder, value); }
  /// The number of the loop's iteration as i64; null outside of loops.
  virtual Value layer() { return {}; }
  /// A value of this type that was noted before, or null.
  virtual Value noted(Type type);
  /// Offers a value to what is made later.
  void note(Value value) { values.push_back(value); }

  Location loc() const { return UnknownLoc::get(builder.getContext()); }

  Random &random;
  OpBuilder builder;

private:
  SmallVector<Value> values;
};

/// The body of a public function; weights are its arguments, and sometimes constants.
class EntryScope : public Scope {
public:
  EntryScope(Random &random, ModuleOp module, StringRef name);

  using Scope::integer;
  using Scope::weight;
  Value weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) override;
  Value integer(OpBuilder &at, int64_t value) override;
  /// A new argument, filled with normal values or, rarely, with ones that are hard: zeros, infinities, NaNs.
  Stream input(ArrayRef<Dim> dims, Type element);
  /// Ends the function.
  EntryPoint finish(ValueRange results);

private:
  Value addArgument(Type type, std::string text);
  Value makeConstant(RankedTensorType type, double scale);

  func::FuncOp function;
  std::vector<std::string> texts;
  SmallVector<std::pair<int64_t, Value>> integers;
  SmallVector<Stream> weights;
  double sharing, constants;
};

/// A region whose ops see what stands above it.
class RegionScope : public Scope {
public:
  RegionScope(Scope &outer, OpBuilder builder) : Scope(outer.random, builder), outer(outer) {}

  using Scope::integer;
  using Scope::weight;
  Value weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) override;
  Value integer(OpBuilder &at, int64_t value) override { return outer.integer(at, value); }
  Value layer() override { return outer.layer(); }
  Value noted(Type type) override;

private:
  Scope &outer;
};

/// A function without a body's end, to be called, which is visible in this module only.
func::FuncOp makeCallee(ModuleOp module);

/// The body of a function that is called: whatever it wants from the caller becomes an argument.
class CalleeScope : public Scope {
public:
  CalleeScope(Scope &caller, func::FuncOp function);

  using Scope::integer;
  using Scope::weight;
  Value weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) override;
  Value integer(OpBuilder &at, int64_t value) override;
  Value noted(Type type) override;
  /// `value` of the caller, as seen here.
  Value pass(Value value);
  /// Ends the function and calls it.
  Value finish(Value result);

private:
  Scope &caller;
  func::FuncOp function;
  SmallVector<Value> operands;
};

/// The body of a loop: weights are slices of stacked ones, or the same in each iteration.
class LoopScope : public Scope {
public:
  LoopScope(Scope &outer, scf::ForOp loop, int64_t count);

  using Scope::integer;
  using Scope::weight;
  Value weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) override;
  Value integer(OpBuilder &at, int64_t value) override { return outer.integer(outer.builder, value); }
  Value layer() override;
  Value noted(Type type) override;

private:
  Scope &outer;
  scf::ForOp loop;
  int64_t count;
  Value index;
};

} // namespace mlir::resid::random

#endif // RESID_TEST_RANDOM_SCOPE_H
