// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of elements as polynomials in real arithmetic: what is left of an expression when it does not matter in
// which order it adds and multiplies, or where it rounds. Knows no op of resid.

#ifndef RESID_PASSES_RAISE_POLYNOMIAL_H
#define RESID_PASSES_RAISE_POLYNOMIAL_H

#include "passes/raise/ElementExpression.h"
#include <map>

namespace mlir::resid {

/// Sums of products of atoms, by the numbers of the atoms in ascending order.
using Polynomial = std::map<std::vector<unsigned>, double>;

/// What a polynomial is a polynomial of.
struct PolynomialAtom {
  enum Function { Value, Reciprocal, ReciprocalRoot };
  const ElementNode *node;
  Function function;
  /// Of what a row sum sums.
  Polynomial sum;
};

class PolynomialRing {
public:
  /// Numbers that are known to be one are taken for one `tolerance` apart. `x` is an atom, whatever it is made of.
  PolynomialRing(const ElementNode *x, double tolerance) : tolerance(tolerance) {
    atoms.push_back({x, PolynomialAtom::Value, {}});
  }

  /// The number of x.
  static constexpr unsigned x = 0;
  const PolynomialAtom &getAtom(unsigned number) const { return atoms[number]; }

  /// Nothing where it would be too long.
  std::optional<Polynomial> expand(const ElementNode *node);
  bool areEqual(const Polynomial &a, const Polynomial &b) const;
  bool areEqual(double a, double b) const;

private:
  std::optional<Polynomial> expandOperation(const ElementNode *node);
  std::optional<Polynomial> divide(const ElementNode *dividend, const ElementNode *divisor);
  Polynomial getAtomOf(const ElementNode *node, PolynomialAtom::Function function);
  Polynomial getRowSum(const ElementNode *node, const Polynomial &sum);

  double tolerance;
  std::vector<PolynomialAtom> atoms;
  llvm::DenseMap<const ElementNode *, std::optional<Polynomial>> known;
};

/// The node after casts between float types.
const ElementNode *skipCasts(const ElementNode *node);

/// The float constant that the node is, through casts.
std::optional<double> getNumber(const ElementNode *node);

/// As few digits as give the same f32, so that 1e-5 in f32 is 1e-5 in the text.
double shorten(double value);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_POLYNOMIAL_H
