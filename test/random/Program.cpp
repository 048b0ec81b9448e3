// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs as a whole: sizes, element type, and which parts follow each other.

#include "test/random/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/random/Parts.h"

namespace mlir::resid::random {

/// Small widths mostly, and now and then one past the 64 lanes of the ordered sum.
static Dims drawDims(Random &random) {
  double dynamic = random.pick({0.0, 0.5, 1.0});
  auto dim = [&](int64_t size) { return Dim{size, random.chance(dynamic)}; };
  Dims dims;
  switch (random.below(10)) {
  case 0: // one row without a dimension for it
    break;
  case 1:
  case 2:
  case 3:
    dims = {dim(random.between(1, 2)), dim(random.between(1, 3))};
    break;
  default:
    dims = {random.chance(0.01) ? Dim{0, true} : dim(random.between(1, 5))};
  }
  dims.push_back(dim(random.chance(0.12) ? random.between(17, 70) : random.between(1, 16)));
  return dims;
}

static Type drawElement(Random &random, MLIRContext *context) {
  Builder b(context);
  return random.pick<Type>(
      {b.getF32Type(), b.getF32Type(), b.getF64Type(), b.getF64Type(), b.getBF16Type(), b.getF16Type()});
}

static int64_t drawDepth(Random &random) { return random.chance(0.4) ? random.between(1, 12) : random.between(1, 4); }

/// One function and what it returns.
static EntryPoint drawEntry(Random &random, ModuleOp module, StringRef name, Family family) {
  EntryScope scope(random, module, name);
  Style style = drawStyle(random);
  Stream x = scope.input(drawDims(random), drawElement(random, module.getContext()));
  SmallVector<Value> taps;
  int64_t kind = family == Family::Stacks ? 0 : random.below(10);
  if (kind == 9 || kind == 8) {
    SmallVector<Stream> inputs{x};
    if (random.chance(0.6))
      inputs.push_back(scope.input(x.dims, x.getElement()));
    drawFlatOps(scope, style, inputs, random.between(2, 12), taps);
    return scope.finish(taps);
  }
  if (kind == 7 || kind == 6) { // a loop, perhaps between blocks
    x = drawStack(scope, style, x, random.pick<int64_t>({0, 0, 1, 2}), taps);
    x = drawLoop(scope, style, x, taps);
    x = drawStack(scope, style, x, random.pick<int64_t>({0, 0, 1}), taps);
  } else if (kind == 5) { // an encoder and a decoder that captures what it hands out
    Stream memory = drawStack(scope, style, x, random.between(1, 3), taps);
    scope.note(memory.value);
    style = drawStyle(random);
    x = drawStack(scope, style, scope.input(x.dims, x.getElement()), random.between(1, 3), taps);
    if (random.chance(0.5))
      taps.push_back(memory.value);
  } else {
    x = drawStack(scope, style, x, drawDepth(random), taps);
  }
  if (family == Family::All && random.chance(0.1))
    drawFlatOps(scope, style, {x}, random.between(1, 4), taps);
  taps.insert(taps.begin(), x.value);
  return scope.finish(taps);
}

Program generateProgram(MLIRContext &context, uint64_t seed, Family family) {
  Random random(seed);
  random.next();
  Program program;
  program.module = ModuleOp::create(UnknownLoc::get(&context));
  program.entries.push_back(drawEntry(random, *program.module, "main", family));
  if (random.chance(0.07))
    program.entries.push_back(drawEntry(random, *program.module, "other", family));
  return program;
}

bool isDoubleOnly(ModuleOp module) {
  auto isOther = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element) && !element.isF64();
  };
  return !module
              .walk([&](Operation *op) {
                bool other = llvm::any_of(op->getResultTypes(), isOther);
                for (Region &region : op->getRegions())
                  for (Block &block : region)
                    other |= llvm::any_of(block.getArgumentTypes(), isOther);
                return other ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

} // namespace mlir::resid::random
