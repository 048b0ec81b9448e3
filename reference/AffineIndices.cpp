// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of affine ops on indices, as instructions.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "reference/ScalarProgram.h"

namespace mlir::resid::reference {

/// Quotients round as their names say; divisors of less than 1 are undefined.
static int64_t evaluate(AffineExpr expression, unsigned dims, ArrayRef<int64_t> values, const char *&fault) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return values[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return values[dims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  int64_t a = evaluate(binary.getLHS(), dims, values, fault);
  int64_t b = evaluate(binary.getRHS(), dims, values, fault);
  if (binary.getKind() == AffineExprKind::Add)
    return int64_t(uint64_t(a) + uint64_t(b));
  if (binary.getKind() == AffineExprKind::Mul)
    return int64_t(uint64_t(a) * uint64_t(b));
  if (b < 1) {
    fault = "an affine division by less than 1";
    return 0;
  }
  int64_t rest = a % b, down = a / b - (rest < 0);
  if (binary.getKind() == AffineExprKind::Mod)
    return rest < 0 ? rest + b : rest;
  return binary.getKind() == AffineExprKind::FloorDiv ? down : down + (rest != 0);
}

static void runAffine(const Instruction &in, Machine &m) {
  auto values = llvm::map_to_vector(in.indices, [&](unsigned number) { return m.registers[number].integer; });
  std::optional<int64_t> all;
  for (AffineExpr result : in.map.getResults()) {
    int64_t one = evaluate(result, in.map.getNumDims(), values, m.fault);
    all = !all ? one : in.immediate < 0 ? std::min(*all, one) : std::max(*all, one);
  }
  m.registers[in.result].integer = *all;
}

/// The sizes that an index is taken apart by, as expressions: the open ones are symbols from `first` on. After each
/// of them stands the product of those that follow it.
static SmallVector<std::pair<AffineExpr, AffineExpr>> getBasis(MLIRContext *context, ArrayRef<int64_t> sizes,
                                                               unsigned first) {
  SmallVector<std::pair<AffineExpr, AffineExpr>> basis;
  for (int64_t size : sizes)
    basis.push_back(
        {ShapedType::isDynamic(size) ? getAffineSymbolExpr(first++, context) : getAffineConstantExpr(size, context),
         getAffineConstantExpr(1, context)});
  for (size_t place = basis.size(); place-- > 1;)
    basis[place - 1].second = basis[place].first * basis[place].second;
  return basis;
}

/// One map for each result of the op; empty for other ops.
static SmallVector<AffineMap> getMaps(Operation &op) {
  MLIRContext *context = op.getContext();
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return {apply.getAffineMap()};
  if (auto least = dyn_cast<affine::AffineMinOp>(op))
    return {least.getMap()};
  if (auto most = dyn_cast<affine::AffineMaxOp>(op))
    return {most.getMap()};
  unsigned count = op.getNumOperands();
  if (auto join = dyn_cast<affine::AffineLinearizeIndexOp>(op)) {
    unsigned indices = join.getMultiIndex().size();
    SmallVector<int64_t> sizes(join.getStaticBasis());
    if (sizes.size() < indices) // the first one bounds nothing, and may be left out
      sizes.insert(sizes.begin(), 1);
    AffineExpr sum = getAffineConstantExpr(0, context);
    for (auto [place, part] : llvm::enumerate(getBasis(context, sizes, indices)))
      sum = sum + getAffineSymbolExpr(place, context) * part.second;
    return {AffineMap::get(0, count, sum)};
  }
  auto split = dyn_cast<affine::AffineDelinearizeIndexOp>(op);
  if (!split)
    return {};
  SmallVector<int64_t> sizes(split.getStaticBasis());
  bool isOpen = sizes.size() < op.getNumResults(); // the first result takes what is left
  if (isOpen)
    sizes.insert(sizes.begin(), 1);
  SmallVector<AffineMap> maps;
  for (auto [place, part] : llvm::enumerate(getBasis(context, sizes, 1))) {
    AffineExpr whole = getAffineSymbolExpr(0, context).floorDiv(part.second);
    maps.push_back(AffineMap::get(0, count, place == 0 ? whole : whole % part.first));
  }
  return maps;
}

bool ScalarProgram::addAffine(Operation &op) {
  SmallVector<AffineMap> maps = getMaps(op);
  for (auto [map, result] : llvm::zip(maps, op.getResults())) {
    Instruction in;
    in.execute = runAffine;
    in.map = map;
    in.immediate = isa<affine::AffineMinOp>(op) ? -1 : 1;
    for (Value operand : op.getOperands())
      in.indices.push_back(getRegister(operand));
    in.result = addRegister(result, Scalar{0.0});
    instructions.push_back(std::move(in));
  }
  return !maps.empty();
}

} // namespace mlir::resid::reference
