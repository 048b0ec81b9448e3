// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/Describe.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::diagram;

static std::string withoutDialect(Operation *op) { return op->getName().stripDialect().str(); }

/// The value that `op` hands on in another shape, type or part, if that is all it does.
static Value getOrigin(Operation *op) {
  if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp, tensor::ReshapeOp,
          arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp, linalg::BroadcastOp>(op))
    return op->getOperand(0);
  return Value();
}

static std::string nameOfArgument(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function)
    return isa<IndexType>(argument.getType()) ? "i" : "carried";
  if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "resid.name"))
    return name.str();
  return ("arg" + Twine(argument.getArgNumber())).str();
}

static std::string nameOfConstant(Operation *op) {
  IntegerAttr integer;
  if (!matchPattern(op, m_Constant(&integer)))
    return "constant";
  return llvm::toString(integer.getValue(), 10, /*Signed=*/true);
}

/// `·2` for a product with a constant on its right; empty for anything else.
static std::string describeFactor(Operation *op) {
  Operation *factor = isa<arith::MulIOp>(op) ? op->getOperand(1).getDefiningOp() : nullptr;
  return factor && factor->hasTrait<OpTrait::ConstantLike>() ? "·" + nameOfConstant(factor) : "";
}

std::string diagram::nameOf(Value value) {
  std::string suffix;
  while (Operation *op = value.getDefiningOp()) {
    Value origin = getOrigin(op);
    if (std::string factor = describeFactor(op); !factor.empty() && suffix.empty()) {
      suffix = factor;
      origin = op->getOperand(0);
    }
    if (!origin)
      return op->hasTrait<OpTrait::ConstantLike>() ? nameOfConstant(op) : describeOp(op) + suffix;
    if (isa<tensor::ExtractSliceOp>(op))
      suffix = "[i]";
    value = origin;
  }
  return nameOfArgument(cast<BlockArgument>(value)) + suffix;
}

/// What the body of a linalg.generic or linalg.map computes: its functions, else its arithmetic, without casts.
static std::string describeBody(linalg::LinalgOp op) {
  llvm::SetVector<StringRef> functions, arithmetic;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    StringRef dialect = inner.getName().getDialectNamespace();
    if (dialect == "math")
      functions.insert(inner.getName().stripDialect());
    else if (!isa<CastOpInterface>(inner) && !inner.hasTrait<OpTrait::ConstantLike>())
      arithmetic.insert(inner.getName().stripDialect());
  }
  const auto &names = functions.empty() ? arithmetic : functions;
  return names.empty() ? "copy" : llvm::join(names, "·");
}

std::string diagram::describeOp(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return "@" + call.getCallee().str();
  if (auto activation = dyn_cast<ActivationOp>(op))
    return stringifyActivationKind(activation.getKind()).str();
  if (isa<linalg::GenericOp, linalg::MapOp>(op))
    return describeBody(cast<linalg::LinalgOp>(op));
  return withoutDialect(op);
}

/// Ops that say where values lie or how they are written, not what is computed.
static bool isBookkeeping(Operation *op) {
  return getOrigin(op) || op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>() ||
         isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp, tensor::InsertSliceOp>(op) ||
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIndex(); });
}

std::string diagram::describeOps(ArrayRef<Operation *> ops) {
  llvm::MapVector<StringRef, unsigned> counts;
  std::vector<std::string> names;
  names.reserve(ops.size());
  for (Operation *op : ops) {
    if (isBookkeeping(op))
      continue;
    names.push_back(describeOp(op));
    ++counts[names.back()];
  }
  if (counts.empty())
    return "identity";
  return llvm::join(llvm::map_range(counts,
                                    [](const auto &entry) {
                                      std::string times = entry.second == 1 ? "" : " ×" + std::to_string(entry.second);
                                      return entry.first.str() + times;
                                    }),
                    ", ");
}

std::string diagram::describeType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!tensor) {
    stream << type;
    return text;
  }
  for (int64_t size : tensor.getShape())
    (ShapedType::isDynamic(size) ? stream << "?" : stream << size) << " × ";
  StringRef sizes = StringRef(text).drop_back(tensor.getRank() ? StringRef("× ").size() : 0);
  std::string result = sizes.str();
  llvm::raw_string_ostream(result) << tensor.getElementType();
  return result;
}

std::string diagram::describeNumber(const APFloat &number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number.convertToDouble());
  return text;
}

Part diagram::describeNorm(const NormParts &norm) {
  std::string title = getNormRule(norm.kind).title.str();
  std::string names = llvm::join(llvm::map_range(norm.getParameters(), nameOf), ", ");
  return {PartKind::Norm, title + (norm.zeroCenteredGamma ? " (1+γ)" : ""), names};
}

Part diagram::describeDropout(const APFloat &p, uint64_t site, const DropoutOrigin &origin) {
  std::string details = "site " + std::to_string(site);
  if (origin.row)
    details += ", origin " + nameOf(origin.row) + " " + nameOf(origin.site);
  if (origin.col)
    details += " " + nameOf(origin.col);
  if (origin.local)
    details += ", extent " + nameOf(origin.local) + " " + nameOf(origin.global);
  return {PartKind::Dropout, "dropout " + describeNumber(p), details};
}

/// The dropout that draws a gate of ones and zeros per sample, after casts and scales by constants.
static DropoutOp findDropPath(Value gate) {
  while (Operation *op = gate.getDefiningOp()) {
    if (auto dropout = dyn_cast<DropoutOp>(op))
      return dropout;
    gate = getOrigin(op);
    if (!gate)
      return nullptr;
  }
  return nullptr;
}

std::optional<Part> diagram::describeBranchScale(Value gate, const APFloat &scale) {
  std::string factor = scale.isExactlyValue(1.0) ? "" : "× " + describeNumber(scale);
  if (!gate)
    return factor.empty() ? std::nullopt : std::optional(Part{PartKind::Scale, factor});
  if (!factor.empty())
    factor += " · ";
  if (DropoutOp dropout = findDropPath(gate))
    return Part{PartKind::Scale, factor + "drop path " + describeNumber(dropout.getP()),
                "site " + std::to_string(dropout.getSite())};
  return Part{PartKind::Scale, factor + "gate", nameOf(gate)};
}

Part diagram::describeConnection(StringRef title, ArrayRef<Value> weights) {
  std::vector<std::string> names;
  for (Value value : weights) {
    if (!value)
      continue;
    bool isOfRow = cast<RankedTensorType>(value.getType()).getRank() > 2;
    std::string name = isOfRow ? "for each row" : nameOf(value);
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  return {PartKind::Connection, title.str(), llvm::join(names, ", ")};
}

std::optional<Part> diagram::describeSkip(const AddParts &parts) {
  std::string title;
  if (parts.scalesSkip())
    title = "× " + (parts.skip ? nameOf(parts.skip) : describeNumber(parts.skipScale.getValue()));
  if (parts.also)
    title += (title.empty() ? "+ " : " + ") + (parts.alsoScale ? nameOf(parts.alsoScale) + " × " : std::string()) +
             nameOf(parts.also);
  return title.empty() ? std::nullopt : std::optional(Part{PartKind::Scale, title});
}
