// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/points/Products.h"

#include "codegen/kernels/ElementAccess.h"
#include "dialect/WeightPanels.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using contraction::KernelLoops;

/// Batches, rows, columns: the sizes of the loops of points (i64), and the strides of an operand in them.
static SmallVector<const contraction::Loop *> getPointLoops(const KernelLoops &loops) {
  SmallVector<const contraction::Loop *> found;
  for (const contraction::Loop &loop : loops.batches)
    found.push_back(&loop);
  found.append({&loops.m, &loops.n});
  return found;
}

Value ProductKernel::countPoints(Code &code, KernelUse &use) {
  Value points = code.constant(1);
  for (const contraction::Loop *loop : getPointLoops(use.as<KernelLoops>()))
    points = code.multiply(points, loop->size.value);
  return points;
}

namespace {

/// One element of the result.
class ElementEmitter {
public:
  ElementEmitter(Code &code, contraction::KernelOp kernel, const KernelBody &body, Value point)
      : code(code), kernel(kernel), loops(body.as<KernelLoops>()), outer(body.mapping) {
    SmallVector<Value> sizes;
    for (const contraction::Loop *loop : getPointLoops(loops))
      sizes.push_back(loop->size.value);
    indices = code.delinearize(point, sizes);
  }

  void emit();

private:
  /// The element of an operand at the point, and `offset` elements after it.
  Value load(unsigned operand, Value offset = nullptr);
  Value widen(Value element) { return code.castFloat(element, loops.arithmetic); }
  Value locate(unsigned operand);
  Value countTerms();
  /// Adds the terms [low, high) to acc.
  Value addTerms(Value low, Value high, Value acc);
  Value locatePacked(Value term);

  Code &code;
  contraction::KernelOp kernel;
  const KernelLoops &loops;
  IRMapping outer;
  SmallVector<Value> indices;
};

} // namespace

Value ElementEmitter::locate(unsigned operand) {
  Value place = code.constant(0);
  for (auto [index, loop] : llvm::zip_equal(indices, getPointLoops(loops)))
    if (!loop->strides[operand].is(0))
      place = code.add(place, code.multiply(index, loop->strides[operand].value));
  return place;
}

Value ElementEmitter::load(unsigned operand, Value offset) {
  Value place = locate(operand);
  return loadElement(code, code.getLoc(), loops.operands[operand].elementType, loops.pointers[operand],
                     offset ? code.add(place, offset) : place, Alignment::Element);
}

Value ElementEmitter::countTerms() {
  Value terms = code.constant(1);
  for (const contraction::Loop &loop : loops.contracted)
    terms = code.multiply(terms, loop.size.value);
  return terms;
}

/// Panels have all terms of 16 columns each, some of them as neighbours.
Value ElementEmitter::locatePacked(Value term) {
  int64_t together = getInterleavedTerms(loops.operands[KernelLoops::kB].elementType);
  Value column = indices.back(), groups = code.ceilDivide(countTerms(), code.constant(together));
  Value panel = code.divide(column, kPanelColumns), columnOfPanel = code.remainder(column, kPanelColumns);
  Value group = code.add(code.multiply(panel, groups), code.divide(term, together));
  Value place = code.add(code.multiply(group, kPanelColumns), columnOfPanel);
  return code.add(code.multiply(place, together), code.remainder(term, together));
}

Value ElementEmitter::addTerms(Value low, Value high, Value acc) {
  SmallVector<Value> sizes;
  for (const contraction::Loop &loop : loops.contracted)
    sizes.push_back(loop.size.value);
  Value scale = loops.hasRowScale ? load(loops.getRowScale()) : Value();
  auto addTerm = [&](Value term, ValueRange sum) -> SmallVector<Value> {
    Value places[] = {code.constant(0), code.constant(0)};
    for (auto [index, loop] : llvm::zip_equal(code.delinearize(term, sizes), loops.contracted))
      for (unsigned factor : {KernelLoops::kA, KernelLoops::kB})
        places[factor] = code.add(places[factor], code.multiply(index, loop.strides[factor].value));
    if (loops.isPacked)
      places[KernelLoops::kB] = locatePacked(term);
    Value a = widen(load(KernelLoops::kA, places[KernelLoops::kA]));
    Value b = widen(load(KernelLoops::kB, places[KernelLoops::kB]));
    return {code.fma(scale ? code.multiply(a, scale) : a, b, sum.front())};
  };
  return code.loop(low, high, 1, acc, addTerm).front();
}

void ElementEmitter::emit() {
  Value start = kernel.getStart();
  Value first = widen(start ? outer.lookup(start) : load(KernelLoops::kInitial));
  Value none = code.constant(0), terms = countTerms(), acc;
  if (loops.chain == 0) {
    acc = addTerms(none, terms, first);
  } else {
    auto end = [&](Value low) { return code.min(code.add(low, loops.chain), terms); };
    acc = addTerms(none, end(none), first);
    auto addChain = [&](Value low, ValueRange total) -> SmallVector<Value> {
      return {code.add(total.front(), addTerms(low, end(low), first))};
    };
    acc = code.loop(loops.chain, terms, loops.chain, acc, addChain).front();
  }
  Block &body = kernel.getBody().front();
  outer.map(body.getArgument(0), code.castFloat(acc, kernel.getProductType()));
  for (unsigned input = 0; input < kernel.getInputs().size(); ++input)
    outer.map(body.getArgument(1 + input), load(loops.getFirstInput() + input));
  for (Operation &op : body.without_terminator())
    code.clone(op, outer);
  Value element = outer.lookupOrDefault(cast<contraction::YieldOp>(body.getTerminator()).getValue());
  unsigned init = loops.getInit();
  storeElement(code, code.getLoc(), element, loops.pointers[init], locate(init), Alignment::Element);
}

PointKernel::EmitPoint ProductKernel::emitKernel(Code &code, KernelBody &body) {
  auto kernel = getFirst().get<contraction::KernelOp>();
  return [&code, &body, kernel](Value point) { ElementEmitter(code, kernel, body, point).emit(); };
}
