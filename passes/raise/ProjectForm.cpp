// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/ProjectForm.h"

#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/Forms.h"
#include "passes/raise/LinearForm.h"
#include "passes/raise/Polynomial.h"
#include "passes/raise/Products.h"

using namespace mlir;
using namespace mlir::resid;

static constexpr int64_t kMaximumCoefficients = 64;

/// The tensor that a tensor is another float type of.
static Value findUncast(Value tensor) {
  ElementExpression expression(tensor);
  const ElementNode *node = skipCasts(expression.getRoot());
  return node->whole ? node->whole : tensor;
}

/// The streams that are joined to the rows of a tensor, if they are: the last two dimensions to one.
static Value findStreams(Value rows) {
  auto join = rows.getDefiningOp<tensor::CollapseShapeOp>();
  if (!join)
    return {};
  auto groups = join.getReassociationIndices();
  bool isLast = groups.back().size() == 2 &&
                llvm::all_of(ArrayRef(groups).drop_back(), [](const auto &group) { return group.size() == 1; });
  int64_t count = join.getSrcType().getDimSize(join.getSrcType().getRank() - 2);
  return isLast && count > 1 && count <= kMaxStreams ? join.getSrc() : Value();
}

/// The node of a tensor's element in an expression.
static const ElementNode *findNode(const ElementExpression &expression, Value tensor) {
  for (const ElementNode *node : expression.getTensors())
    if (node->whole == tensor)
      return node;
  return nullptr;
}

std::optional<ProjectForm> resid::matchProject(const ElementExpression &expression, double tolerance,
                                               std::string &refusal) {
  const ElementNode *root = expression.getRoot();
  if (!isa_and_present<arith::MulFOp>(root->op))
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    const ElementNode *element = root->operands[i], *scale = root->operands[1 - i];
    std::optional<Contraction> product =
        element->whole && element->kind == ElementNode::Input ? getProduct(element->whole) : std::nullopt;
    LinearForm linear;
    if (!product || !startsFromZeros(*product) || !readProduct(*product, linear) || linear.isTransposed)
      continue;
    Value rows = findUncast(linear.x);
    ProjectForm form{findStreams(rows), linear.weight, 0};
    const ElementNode *row = findNode(expression, rows);
    if (!form.x || !row)
      continue;
    auto type = cast<RankedTensorType>(linear.weight.getType());
    std::optional<double> epsilon = matchReciprocalRootMeanSquare(expression, scale, row, tolerance);
    if (!epsilon)
      continue;
    form.epsilon = *epsilon;
    bool isWide = getElementTypeOrSelf(form.x).isF64() || type.getElementType().isF64();
    if (type.isDynamicDim(0) || type.getDimSize(0) > kMaximumCoefficients)
      refusal = "it does not make 1 to 64 coefficients";
    else if (isWide ? !root->type.isF64() : !root->type.isF32())
      refusal = "it is not in the arithmetic type";
    else if (!leadsOnlyTo(element->whole, root->whole.getDefiningOp()))
      refusal = "something else reads its product";
    else
      return form;
  }
  return std::nullopt;
}
