// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/LinearForm.h"

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/raise/Polynomial.h"
#include "passes/raise/Products.h"

using namespace mlir;
using namespace mlir::resid;

/// Reads x and the weight of a product of rows with a matrix. The loops of the result are the rows', then the output
/// features'.
static bool readFactors(Contraction &product, OpOperand *x, OpOperand *weight, LinearForm &form) {
  MLIRContext *context = product.op.getContext();
  ArrayRef<AffineExpr> result = product.getMap(product.init).getResults();
  if (result.empty())
    return false;
  unsigned output = cast<AffineDimExpr>(result.back()).getPosition();
  SmallVector<AffineExpr> rows(result.drop_back());
  SmallVector<unsigned> reductions;
  product.op.getReductionDims(reductions);
  rows.push_back(getAffineDimExpr(reductions.front(), context));
  if (product.getMap(x).getResults() != ArrayRef(rows))
    return false;
  // A weight may be copied for each batch, and turned.
  ElementExpression expression(weight->get());
  const ElementNode *node = expression.getRoot();
  while (isa_and_present<arith::ExtFOp>(node->op))
    node = node->operands.front();
  if (!node->tensor || node->map.getNumResults() != 2 || cast<RankedTensorType>(node->tensor.getType()).getEncoding())
    return false;
  SmallVector<unsigned, 2> loops;
  for (AffineExpr place : node->map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(place);
    if (!dim)
      return false;
    loops.push_back(cast<AffineDimExpr>(product.getMap(weight).getResult(dim.getPosition())).getPosition());
  }
  form.x = x->get();
  form.weight = node->tensor;
  form.isTransposed = loops[1] == output;
  return loops[form.isTransposed ? 0 : 1] == reductions.front() && loops[form.isTransposed ? 1 : 0] == output;
}

bool resid::readProduct(Contraction &product, LinearForm &form) {
  return readFactors(product, product.a, product.b, form) || readFactors(product, product.b, product.a, form);
}

static bool isF64(Value value) { return getElementTypeOrSelf(value.getType()).isF64(); }

/// Whether the node is an element of a vector, by the last dimension of `rank`.
static bool isOfLast(const ElementNode *node, unsigned rank) {
  return node->tensor && node->map.getNumResults() == 1 && node->map.getResult(0).isFunctionOfDim(rank - 1) &&
         !cast<RankedTensorType>(node->tensor.getType()).getEncoding();
}

static bool isVector(const ElementNode *node) { return node->tensor && node->map.getNumResults() == 1; }

/// The product that starts from a bias: other roundings than those of a sum with the bias.
static std::optional<LinearForm> matchStart(const ElementNode *root) {
  LinearForm form;
  std::optional<Contraction> product = getProduct(root->tensor);
  if (!product || startsFromZeros(*product) || !readProduct(*product, form))
    return std::nullopt;
  ElementExpression start(product->init->get());
  const ElementNode *bias = skipCasts(start.getRoot());
  if (!isOfLast(bias, cast<RankedTensorType>(root->tensor.getType()).getRank()))
    return std::nullopt;
  form.bias = bias->tensor;
  form.isExact = false;
  return form;
}

/// Whether the sum of the product's element and the bias, in `type`, is rounded as in the op.
static bool isExact(const LinearForm &form, Contraction &product, const ElementNode *element, Type type, Type result) {
  bool isWide = isF64(form.x) || isF64(form.weight) || isF64(form.bias) || result.isF64();
  bool isArithmetic = isWide ? type.isF64() : type.isF32();
  return isArithmetic && element->type == type && product.arithmetic == type &&
         getFloatConstant(product.init->get())->isPosZero();
}

std::optional<LinearForm> resid::matchLinear(const ElementExpression &expression, std::string &refusal) {
  const ElementNode *root = expression.getRoot(), *sum = skipCasts(root);
  if (sum->kind == ElementNode::Input && root == sum && root->tensor)
    return matchStart(root);
  if (!isa_and_present<arith::AddFOp>(sum->op))
    return std::nullopt;
  unsigned rank = cast<RankedTensorType>(root->whole.getType()).getRank();
  for (unsigned i : {0, 1}) {
    const ElementNode *element = skipCasts(sum->operands[i]), *bias = skipCasts(sum->operands[1 - i]);
    if (element->kind != ElementNode::Input || !element->tensor || !element->map.isIdentity() || !isVector(bias))
      continue;
    LinearForm form;
    form.split = element->tensor.getDefiningOp<tensor::ExpandShapeOp>();
    if (form.split && form.split.getReassociationIndices().back().size() != 1)
      continue;
    Value tensor = form.split ? form.split.getSrc() : element->tensor;
    std::optional<Contraction> product = getProduct(tensor);
    if (!product || !startsFromZeros(*product) || !readProduct(*product, form))
      continue;
    if (!isOfLast(bias, rank)) {
      refusal = "its bias is not one of output features";
      return std::nullopt;
    }
    if (!leadsOnlyTo(tensor, root->whole.getDefiningOp())) {
      refusal = "something else reads its product";
      return std::nullopt;
    }
    form.bias = bias->tensor;
    bool isRoundedOnce = root == sum || root->operands.front() == sum;
    // A product that is narrowed first is rounded twice.
    form.isExact =
        isRoundedOnce && sum->operands[i] == element && isExact(form, *product, element, sum->type, root->type);
    return form;
  }
  return std::nullopt;
}

Value resid::buildLinear(OpBuilder &builder, Location location, LinearForm form, Type type) {
  Value x = form.x;
  auto merge = x.getDefiningOp<tensor::CollapseShapeOp>();
  if (merge && merge.getReassociationIndices().back().size() != 1)
    merge = {};
  if (merge)
    x = merge.getSrc();
  auto op = LinearOp::create(builder, location, x, form.weight, form.bias, form.isTransposed);
  op.getResult().setType(cast<RankedTensorType>(op.getType()).clone(getElementTypeOrSelf(type)));
  Value result = op.getResult();
  if (merge)
    result = tensor::CollapseShapeOp::create(builder, location, result, merge.getReassociationIndices());
  if (form.split)
    result = tensor::ExpandShapeOp::create(builder, location, cast<RankedTensorType>(type), result,
                                           form.split.getReassociationIndices(), form.split.getMixedOutputShape());
  return result.getType() == type ? result : tensor::CastOp::create(builder, location, type, result).getResult();
}
