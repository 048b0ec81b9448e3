// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "test/random/Parts.h"

namespace mlir::resid::random {

static Value drawActivation(Scope &scope, Value x) {
  OpBuilder &b = scope.builder;
  switch (scope.random.below(8)) {
  case 6: {
    auto kind = scope.random.pick<ActivationKind>(
        {ActivationKind::ReLU, ActivationKind::GELU, ActivationKind::GELUTanh, ActivationKind::SiLU});
    return ActivationOp::create(b, scope.loc(), kind, x, Value());
  }
  case 7: {
    auto kind =
        scope.random.pick<ActivationKind>({ActivationKind::SwiGLU, ActivationKind::GeGLU, ActivationKind::GeGLUTanh});
    return ActivationOp::create(b, scope.loc(), kind, x, math::AbsFOp::create(b, scope.loc(), x));
  }
  case 0:
    return math::TanhOp::create(b, scope.loc(), x);
  case 1:
    return math::AbsFOp::create(b, scope.loc(), x);
  case 2:
    return math::ErfOp::create(b, scope.loc(), x);
  case 3:
    return arith::NegFOp::create(b, scope.loc(), x);
  case 4:
    return math::SqrtOp::create(b, scope.loc(), math::AbsFOp::create(b, scope.loc(), x));
  default:
    return math::ExpOp::create(b, scope.loc(),
                               arith::NegFOp::create(b, scope.loc(), math::AbsFOp::create(b, scope.loc(), x)));
  }
}

/// x·y + x element by element as one linalg.generic, y being a value of the same type.
static Value drawGeneric(Scope &scope, const Stream &x) {
  OpBuilder &b = scope.builder;
  Value y = scope.weight(x.dims, x.getElement());
  Value empty = makeEmptyLike(scope, x);
  SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(x.getRank()));
  SmallVector<utils::IteratorType> iterators(x.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, scope.loc(), TypeRange{x.getType()}, ValueRange{x.value, y}, ValueRange{empty},
                                   maps, iterators,
                                   [](OpBuilder &inner, Location loc, ValueRange values) {
                                     Value product = arith::MulFOp::create(inner, loc, values[0], values[1]);
                                     Value sum = arith::AddFOp::create(inner, loc, product, values[0]);
                                     linalg::YieldOp::create(inner, loc, sum);
                                   })
      .getResult(0);
}

/// A call of a function that does to `x` what a branch may do.
static Value drawCall(Scope &scope, Style &style, const Stream &x, unsigned depth) {
  auto module = scope.builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  CalleeScope callee(scope, makeCallee(module));
  Stream inner = x.with(callee.pass(x.value));
  return callee.finish(drawBranchOps(callee, style, inner, depth + 1));
}

/// Adds or multiplies by a value from above: the memory of a cross-attention, another stream, a weight.
static Value drawCapture(Scope &scope, const Stream &x) {
  Value other = scope.random.chance(0.7) ? scope.noted(x.getType()) : Value();
  if (!other)
    other = scope.weight(x.dims, x.getElement());
  if (scope.random.chance(0.7))
    return arith::AddFOp::create(scope.builder, scope.loc(), x.value, other);
  return arith::MulFOp::create(scope.builder, scope.loc(), x.value, other);
}

static Value drawDropoutOp(Scope &scope, Style &style, const Stream &x) {
  DropoutParts d = drawDropout(scope, style);
  if (!d.seed)
    return x.value;
  return DropoutOp::create(scope.builder, scope.loc(), x.value.getType(), x.value, d.seed, d.step, d.origin.row,
                           d.origin.site, d.origin.col, d.origin.local, d.origin.global, d.p, d.site);
}

static Value drawBranchOp(Scope &scope, Style &style, const Stream &x, unsigned depth) {
  switch (scope.random.below(style.isLinear ? 3 : 13)) {
  case 0:
  case 1:
    return drawLinear(scope, x, x.dims.back()).value;
  case 2: { // two layers, one after the other or beside each other
    if (scope.random.chance(0.3)) {
      Value a = drawLinear(scope, x, x.dims.back()).value, b = drawLinear(scope, x, x.dims.back()).value;
      return arith::AddFOp::create(scope.builder, scope.loc(), a, b);
    }
    Dim inner{scope.random.between(1, 9), scope.random.chance(0.2)};
    Stream hidden = drawLinear(scope, x, inner);
    return drawLinear(scope, hidden.with(drawActivation(scope, hidden.value)), x.dims.back()).value;
  }
  case 3:
    return drawGeneric(scope, x);
  case 4:
    return depth < 2 ? drawCall(scope, style, x, depth) : drawActivation(scope, x.value);
  case 5:
    return drawCapture(scope, x);
  case 6:
    return AddBiasOp::create(scope.builder, scope.loc(), x.value,
                             scope.weight({x.dims.back()}, drawParameterType(scope.random, x.getElement())));
  case 7:
    return drawDropoutOp(scope, style, x);
  case 8:
    return scope.random.chance(0.3) ? drawFlatNorm(scope, style, x).value : drawActivation(scope, x.value);
  case 9:
    return depth < 1 && scope.random.chance(0.3) ? drawBlock(scope, style, x, depth + 1).value
                                                 : drawActivation(scope, x.value);
  default:
    return drawActivation(scope, x.value);
  }
}

Value drawBranchOps(Scope &scope, Style &style, const Stream &h, unsigned depth) {
  Stream current = h;
  for (int64_t count = scope.random.pick<int64_t>({1, 1, 2, 3}); count != 0; --count)
    current.value = drawBranchOp(scope, style, current, depth);
  return current.value;
}

Value drawBranch(Scope &scope, Style &style, const Stream &h, RankedTensorType result, unsigned depth) {
  Random &random = scope.random;
  if (random.chance(0.02))
    return h.getType() == result ? h.value : arith::ExtFOp::create(scope.builder, scope.loc(), result, h.value);
  Stream current = h;
  if (h.getType() == result && random.chance(style.narrow))
    if (Type element = drawNarrowerType(random, h.getElement()); element != h.getElement())
      current.value = arith::TruncFOp::create(scope.builder, scope.loc(), random::getType(h.dims, element), h.value);
  current.value = drawBranchOps(scope, style, current, depth);
  if (current.getType() == result)
    return current.value;
  return arith::ExtFOp::create(scope.builder, scope.loc(), result, current.value);
}

} // namespace mlir::resid::random
