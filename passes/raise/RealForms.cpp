// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activations and norms by what they are in real arithmetic, whichever way they are written.

#include "dialect/ActivationKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/raise/Forms.h"
#include "passes/raise/Polynomial.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;

using Atoms = std::vector<unsigned>;
static constexpr unsigned x = PolynomialRing::x;

/// √(2/π).
static constexpr double kTanhScale = 0.79788456080286535588;

//===------------------------------------------- activations ------------------------------------------------------===//

/// The operand of the function that atom `number` is, if it is `OpTy`.
template <typename OpTy> static const ElementNode *operandOf(const PolynomialRing &ring, unsigned number) {
  const PolynomialAtom &atom = ring.getAtom(number);
  const ElementNode *node = skipCasts(atom.node);
  bool isFunction = atom.function == PolynomialAtom::Value && isa_and_present<OpTy>(node->op);
  return isFunction ? node->operands.front() : nullptr;
}

static bool isPolynomial(PolynomialRing &ring, const ElementNode *node, const Polynomial &expected) {
  std::optional<Polynomial> found = node ? ring.expand(node) : std::nullopt;
  return found && ring.areEqual(*found, expected);
}

/// ½·x + ½·x·f(x) with f the erf or the tanh of a GELU.
static std::optional<ActivationKind> matchGELU(PolynomialRing &ring, const Polynomial &sum) {
  if (sum.size() != 2 || sum.rbegin()->first.size() != 2)
    return std::nullopt;
  unsigned function = sum.rbegin()->first[1];
  if (!ring.areEqual(sum, {{{x}, 0.5}, {{x, function}, 0.5}}))
    return std::nullopt;
  if (isPolynomial(ring, operandOf<math::ErfOp>(ring, function), {{{x}, llvm::numbers::inv_sqrt2}}))
    return ActivationKind::GELU;
  if (isPolynomial(ring, operandOf<math::TanhOp>(ring, function),
                   {{{x}, kTanhScale}, {{x, x, x}, kTanhScale * 0.044715}}))
    return ActivationKind::GELUTanh;
  return std::nullopt;
}

/// x·1/(1 + exp(-x)).
static bool isSiLU(PolynomialRing &ring, const Polynomial &product) {
  if (product.size() != 1 || product.begin()->first.size() != 2 || product.begin()->first[0] != x ||
      !ring.areEqual(product.begin()->second, 1.0))
    return false;
  PolynomialAtom divisor = ring.getAtom(product.begin()->first[1]);
  std::optional<Polynomial> sum =
      divisor.function == PolynomialAtom::Reciprocal ? ring.expand(divisor.node) : std::nullopt;
  if (!sum || sum->size() != 2 || sum->rbegin()->first.size() != 1)
    return false;
  unsigned power = sum->rbegin()->first[0];
  return ring.areEqual(*sum, {{{}, 1.0}, {{power}, 1.0}}) &&
         isPolynomial(ring, operandOf<math::ExpOp>(ring, power), {{{x}, -1.0}});
}

static bool isZero(const ElementNode *node) { return node->constant && node->constant->isZero(); }

/// A maximum with zero, or a choice that is one, whatever becomes of -0 and NaN.
static bool isReLU(const ElementNode *node, const ElementNode *element) {
  node = skipCasts(node);
  auto isX = [&](const ElementNode *value) { return skipCasts(value) == skipCasts(element); };
  if (isa_and_present<arith::MaximumFOp, arith::MaxNumFOp>(node->op))
    return (isX(node->operands[0]) && isZero(node->operands[1])) ||
           (isX(node->operands[1]) && isZero(node->operands[0]));
  if (!isa_and_present<arith::SelectOp>(node->op))
    return false;
  const ElementNode *comparison = node->operands[0], *yes = node->operands[1], *no = node->operands[2];
  auto compare = dyn_cast_or_null<arith::CmpFOp>(comparison->op);
  if (!compare || !isX(comparison->operands[0]) || !isZero(comparison->operands[1]))
    return false;
  using Predicate = arith::CmpFPredicate;
  switch (compare.getPredicate()) {
  case Predicate::OGT:
  case Predicate::OGE:
  case Predicate::UGT:
  case Predicate::UGE:
    return isX(yes) && isZero(no);
  case Predicate::OLT:
  case Predicate::OLE:
  case Predicate::ULT:
  case Predicate::ULE:
    return isZero(yes) && isX(no);
  default:
    return false;
  }
}

/// The activation of one of the elements of tensors of type `type` that `node` is.
static std::optional<ActivationForm> matchActivationOf(const ElementExpression &expression, const ElementNode *node,
                                                       Type type, double tolerance) {
  for (const ElementNode *element : expression.getTensors()) {
    if (skipCasts(element) == skipCasts(node) || element->whole.getType() != type)
      continue;
    if (isReLU(node, element))
      return ActivationForm{ActivationKind::ReLU, element};
    PolynomialRing ring(element, tolerance);
    std::optional<Polynomial> polynomial = ring.expand(node);
    if (!polynomial)
      continue;
    if (std::optional<ActivationKind> kind = matchGELU(ring, *polynomial))
      return ActivationForm{*kind, element};
    if (isSiLU(ring, *polynomial))
      return ActivationForm{ActivationKind::SiLU, element};
  }
  return std::nullopt;
}

/// The node of the expression that is the same number, through casts, and an element of a tensor of type `type`.
static const ElementNode *getElement(const ElementExpression &expression, const ElementNode *node, Type type) {
  for (const ElementNode *element : expression.getTensors())
    if (element->whole.getType() == type && skipCasts(element) == skipCasts(node))
      return element;
  return nullptr;
}

std::optional<ActivationForm> resid::matchActivation(const ElementExpression &expression, double tolerance) {
  const ElementNode *root = expression.getRoot();
  Type type = root->whole.getType();
  if (std::optional<ActivationForm> form = matchActivationOf(expression, root, type, tolerance))
    return form;
  const ElementNode *product = skipCasts(root);
  if (!isa_and_present<arith::MulFOp>(product->op))
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    const ElementNode *up = getElement(expression, product->operands[1 - i], type);
    std::optional<ActivationForm> form =
        up ? matchActivationOf(expression, product->operands[i], type, tolerance) : std::nullopt;
    if (std::optional<ActivationKind> kind = form ? getGatedKind(form->kind) : std::nullopt)
      return ActivationForm{*kind, form->x, up};
  }
  return std::nullopt;
}

//===------------------------------------------- norms ------------------------------------------------------------===//

namespace {
/// Matches (x - Σx/n)·r·γ + β, or x·r·γ + β, with r the reciprocal root of what stands in a norm's.
class NormMatcher {
public:
  /// A norm over dimensions of the sizes `shape`.
  NormMatcher(const ElementExpression &expression, const ElementNode *element, ArrayRef<int64_t> shape,
              double tolerance)
      : expression(expression), ring(element, tolerance), element(element), shape(shape),
        size(ShapedType::getNumElements(shape)) {}

  std::optional<NormForm> match();
  /// The epsilon of the root that `scale` is 1 over.
  std::optional<double> matchScale(const ElementNode *scale);

private:
  bool readScaled(const Atoms &atoms);
  bool readTerm(const Atoms &atoms, double coefficient);
  bool readRoot();
  bool isSum(unsigned number, const Polynomial &expected) const;
  const ElementNode *getParameter(std::optional<unsigned> number, bool &isKnown) const;

  const ElementExpression &expression;
  PolynomialRing ring;
  const ElementNode *element;
  ArrayRef<int64_t> shape;
  int64_t size;
  std::optional<unsigned> root, gamma, beta, mean;
  double epsilon = 0.0;
};
} // namespace

/// The term x·r·γ: which atoms r and γ are.
bool NormMatcher::readScaled(const Atoms &atoms) {
  if (atoms.size() < 2 || atoms.size() > 3 || atoms[0] != x)
    return false;
  for (unsigned number : ArrayRef(atoms).drop_front()) {
    bool isRoot = ring.getAtom(number).function == PolynomialAtom::ReciprocalRoot;
    std::optional<unsigned> &place = isRoot ? root : gamma;
    if (place)
      return false;
    place = number;
  }
  return root.has_value();
}

/// Whether the atom is the sum of `expected` over the norm's dimensions.
bool NormMatcher::isSum(unsigned number, const Polynomial &expected) const {
  const PolynomialAtom &atom = ring.getAtom(number);
  return atom.node->summed == shape.size() && ring.areEqual(atom.sum, expected);
}

/// The terms -Σx/n·r·γ and β.
bool NormMatcher::readTerm(const Atoms &atoms, double coefficient) {
  if (atoms.size() == 1 && !beta && ring.areEqual(coefficient, 1.0)) {
    beta = atoms[0];
    return true;
  }
  if (mean || !ring.areEqual(coefficient, -1.0 / static_cast<double>(size)))
    return false;
  SmallVector<unsigned> rest;
  for (unsigned number : atoms)
    if (number != root && number != gamma)
      rest.push_back(number);
  if (rest.size() != 1 || rest.size() + 1 + gamma.has_value() != atoms.size() || !isSum(rest[0], {{{x}, 1.0}}))
    return false;
  mean = rest[0];
  return true;
}

/// What stands in the root: the mean of squares plus epsilon.
bool NormMatcher::readRoot() {
  PolynomialAtom atom = ring.getAtom(*root);
  std::optional<Polynomial> inside = ring.expand(atom.node);
  if (!inside)
    return false;
  double n = static_cast<double>(size);
  std::optional<unsigned> squares;
  for (const auto &[atoms, coefficient] : *inside) {
    if (atoms.empty())
      epsilon = coefficient;
    else if (atoms.size() == 1 && !squares && ring.areEqual(coefficient, 1.0 / n))
      squares = atoms[0];
    else
      return false;
  }
  Polynomial expected = {{{x, x}, 1.0}};
  if (mean) {
    expected[{x, *mean}] = -2.0 / n;
    expected[{*mean, *mean}] = 1.0 / (n * n);
  }
  return squares && epsilon >= 0.0 && isSum(*squares, expected);
}

/// The tensor of the norm's dimensions whose element the atom is.
const ElementNode *NormMatcher::getParameter(std::optional<unsigned> number, bool &isKnown) const {
  if (!number)
    return nullptr;
  const PolynomialAtom &atom = ring.getAtom(*number);
  const ElementNode *node = atom.node;
  auto type = node->tensor ? dyn_cast<RankedTensorType>(node->tensor.getType()) : RankedTensorType();
  bool isParameter =
      type && type.getShape() == shape && isa<FloatType>(type.getElementType()) &&
      node->map == node->map.getMinorIdentityMap(node->map.getNumDims(), shape.size(), type.getContext()) &&
      (!node->type.isF64() || element->type.isF64());
  isKnown &= isParameter && atom.function == PolynomialAtom::Value;
  return node;
}

std::optional<NormForm> NormMatcher::match() {
  std::optional<Polynomial> polynomial = ring.expand(expression.getRoot());
  if (!polynomial || polynomial->size() > 3)
    return std::nullopt;
  for (const auto &[atoms, coefficient] : *polynomial)
    if (llvm::is_contained(atoms, x) && (root || !ring.areEqual(coefficient, 1.0) || !readScaled(atoms)))
      return std::nullopt;
  if (!root)
    return std::nullopt;
  for (const auto &[atoms, coefficient] : *polynomial)
    if (!llvm::is_contained(atoms, x) && !readTerm(atoms, coefficient))
      return std::nullopt;
  bool isKnown = readRoot();
  NormForm form{mean ? NormKind::Layer : NormKind::RMS,
                element,
                getParameter(gamma, isKnown),
                getParameter(beta, isKnown),
                epsilon,
                static_cast<unsigned>(shape.size())};
  // The ops take a beta beside a gamma only.
  return isKnown && (form.gamma || !form.beta) ? std::optional(form) : std::nullopt;
}

std::optional<double> NormMatcher::matchScale(const ElementNode *scale) {
  std::optional<Polynomial> polynomial = ring.expand(scale);
  if (!polynomial || polynomial->size() != 1)
    return std::nullopt;
  const auto &[atoms, coefficient] = *polynomial->begin();
  if (atoms.size() != 1 || !ring.areEqual(coefficient, 1.0) ||
      ring.getAtom(atoms[0]).function != PolynomialAtom::ReciprocalRoot)
    return std::nullopt;
  root = atoms[0];
  return readRoot() ? std::optional(epsilon) : std::nullopt;
}

std::optional<double> resid::matchReciprocalRootMeanSquare(const ElementExpression &expression,
                                                           const ElementNode *scale, const ElementNode *element,
                                                           double tolerance) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(element->whole.getType()).getShape().take_back(1);
  if (!expression.hasRowSum(1) || ShapedType::isDynamicShape(shape) || shape[0] == 0)
    return std::nullopt;
  return NormMatcher(expression, element, shape, tolerance).matchScale(scale);
}

std::optional<NormForm> resid::matchNorm(const ElementExpression &expression, double tolerance) {
  const ElementNode *root = expression.getRoot();
  auto type = cast<RankedTensorType>(root->whole.getType());
  for (const ElementNode *element : expression.getTensors()) {
    auto from = cast<RankedTensorType>(element->whole.getType());
    bool fits = from.getShape() == type.getShape() && isa<FloatType>(from.getElementType()) &&
                (from == type || from.getElementTypeBitWidth() > type.getElementTypeBitWidth());
    if (!fits || skipCasts(element) == skipCasts(root))
      continue;
    for (int64_t dimensions = 1; dimensions <= type.getRank(); ++dimensions) {
      ArrayRef<int64_t> shape = type.getShape().take_back(dimensions);
      if (!expression.hasRowSum(dimensions) || ShapedType::isDynamicShape(shape) || llvm::is_contained(shape, 0))
        continue;
      if (std::optional<NormForm> form = NormMatcher(expression, element, shape, tolerance).match())
        return form;
    }
  }
  return std::nullopt;
}
