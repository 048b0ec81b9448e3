// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-run/MadeArguments.h"

#include "dialect/ResidDialect.h"
#include "dialect/Spelling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tools/resid-run/CompiledFunction.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::resid::run {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

bool makesArguments(const Options &options) {
  return options.arguments.empty() && (options.check != Options::NoCheck || options.repeat != 0);
}

namespace {

using Shapes = SmallVector<SmallVector<int64_t>>;

/// The open sizes, by the names of the header. Those that must be equal share the first one that is said.
class OpenSizes {
public:
  OpenSizes(const Options &options, const boundary::KernelSignature &signature)
      : options(options), signature(signature), shared(signature.sizes.size()) {}

  Error take(llvm::ArrayRef<std::optional<Array>> known);
  int64_t get(unsigned argument, unsigned dimension) const;

private:
  const SizeOption *findOption(StringRef name) const {
    auto found = llvm::find_if(options.sizes, [&](const SizeOption &size) { return size.name == name; });
    return found == options.sizes.end() ? nullptr : &*found;
  }
  Error checkNames() const;

  const Options &options;
  const boundary::KernelSignature &signature;
  std::vector<std::optional<int64_t>> shared;
};

} // namespace

Error OpenSizes::checkNames() const {
  SmallVector<StringRef> names;
  for (const boundary::SizeParameter &parameter : signature.sizes)
    names.push_back(parameter.name);
  for (const SizeOption &size : options.sizes) {
    if (size.name.empty() || llvm::is_contained(names, size.name))
      continue;
    KnownNames known{names, {}, {}};
    return makeError(tools::ExitUsage, "--size: expected an open size of '" + signature.symbol + "', " +
                                           listNames(known) + ", but got '" + size.name + "'" +
                                           suggestNearest(size.name, known));
  }
  return Error::success();
}

Error OpenSizes::take(llvm::ArrayRef<std::optional<Array>> known) {
  if (Error error = checkNames())
    return error;
  for (const boundary::SizeParameter &parameter : signature.sizes) {
    std::optional<int64_t> &size = shared[parameter.sameAs];
    const SizeOption *named = findOption(parameter.name);
    if (const std::optional<Array> &array = known[parameter.argument])
      size = getStoredSize(array->getElementType(), array->getShape(), parameter.dimension);
    else if (!size && (parameter.fixed >= 0 || named))
      size = parameter.fixed >= 0 ? parameter.fixed : named->size;
  }
  const SizeOption *any = findOption("");
  for (const boundary::SizeParameter &parameter : signature.sizes) {
    std::optional<int64_t> &size = shared[parameter.sameAs];
    if (!size && !any)
      return makeError(tools::ExitUsage, "expected --size=N or --size=" + parameter.name +
                                             "=N, or an --arg for each argument, since size " +
                                             llvm::Twine(parameter.dimension) + " of argument " +
                                             llvm::Twine(parameter.argument) + " is open, but got none");
    if (!size)
      size = any->size;
  }
  return Error::success();
}

int64_t OpenSizes::get(unsigned argument, unsigned dimension) const {
  for (const boundary::SizeParameter &parameter : signature.sizes)
    if (parameter.argument == argument && parameter.dimension == dimension) {
      const SizeOption *own = findOption(parameter.name);
      return own ? own->size : *shared[parameter.sameAs];
    }
  llvm_unreachable("each open size is a parameter");
}

/// The shape of each argument; none of a scalar.
static Expected<Shapes> findShapes(const Options &options, func::FuncOp function,
                                   llvm::ArrayRef<std::optional<Array>> known) {
  auto isOpen = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  bool hasOpen = llvm::any_of(function.getArgumentTypes(), isOpen);
  if (!hasOpen && !options.sizes.empty())
    return makeError(tools::ExitUsage,
                     "expected a function with open sizes beside --size, but '" + function.getName() + "' has none");
  boundary::KernelSignature signature;
  if (hasOpen) {
    Expected<boundary::KernelSignature> found = findSignature(function);
    if (!found)
      return found.takeError();
    signature = std::move(*found);
  }
  OpenSizes open(options, signature);
  if (Error error = open.take(known))
    return std::move(error);
  Shapes shapes;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    shapes.emplace_back();
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (unsigned dim = 0; tensor && dim != tensor.getRank(); ++dim)
      shapes.back().push_back(tensor.isDynamicDim(dim) ? open.get(index, dim) : tensor.getDimSize(dim));
    // The open size of i4 is that of its bytes.
    if (tensor && tensor.getRank() > 0 && tensor.isDynamicDim(tensor.getRank() - 1) &&
        tensor.getElementType().isInteger(4))
      shapes.back().back() *= 2;
  }
  return shapes;
}

//===------------------------------------------- integers ---------------------------------------------------------===//

/// A size of the value, where its type or the argument that it is says it.
static std::optional<int64_t> findSize(Value value, unsigned dimension, const Shapes &shapes) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dimension))
    return type.getDimSize(dimension);
  auto argument = dyn_cast<BlockArgument>(value);
  bool isKnown = argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isKnown ? std::optional(shapes[argument.getArgNumber()][dimension]) : std::nullopt;
}

/// How many rows or classes there are for the integers to name; none where something else is done with them as well.
static std::optional<int64_t> findLimit(Value integers, const Shapes &shapes) {
  std::optional<int64_t> limit;
  for (OpOperand &use : integers.getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    auto own = llvm::TypeSwitch<Operation *, std::optional<int64_t>>(use.getOwner())
                   .Case([&](EmbeddingOp op) { return findSize(op.getTable(), 0, shapes); })
                   .Case([&](EmbeddingGradOp op) { return findSize(op.getTable(), 0, shapes); })
                   .Case<CrossEntropyOp, CrossEntropyGradOp>([&](auto op) {
                     return findSize(op.getLogits(), op.getLogits().getType().getRank() - 1, shapes);
                   })
                   .Case<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, arith::ExtSIOp, arith::ExtUIOp,
                         arith::TruncIOp>([&](auto op) { return findLimit(op->getResult(0), shapes); })
                   .Default(std::nullopt);
    if (!own)
      return std::nullopt;
    limit = limit ? std::min(*limit, *own) : *own;
  }
  return limit;
}

/// Whether 0 would be no number for it: what a number is divided by, and how much of something there is.
static bool isDivisor(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::FloorDivSIOp>(op))
    return use.getOperandNumber() == 1;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<DropoutOp, AddNormOp, AttentionOp, AttentionGradOp, BlockOp>(
          [&](auto op) { return use.get() == op.getExtentLocal() || use.get() == op.getExtentGlobal(); })
      .Default(false);
}

//===------------------------------------------- texts ------------------------------------------------------------===//

static std::string makeText(BlockArgument argument, const Shapes &shapes) {
  unsigned index = argument.getArgNumber();
  Type element = getElementTypeOrSelf(argument.getType());
  bool isFloat = isa<FloatType>(element);
  if (!isa<RankedTensorType>(argument.getType()))
    return isFloat ? "0.5" : element.isInteger(1) ? "true" : llvm::any_of(argument.getUses(), isDivisor) ? "1" : "0";
  std::string text, seed = "random:" + std::to_string(index + 1);
  llvm::raw_string_ostream stream(text);
  stream << element << '[';
  llvm::interleave(shapes[index], stream, "x");
  stream << "]=";
  std::optional<int64_t> limit = isFloat ? std::nullopt : findLimit(argument, shapes);
  if (isFloat || element.isInteger(1) || element.isInteger(4))
    stream << seed;
  else if (limit && *limit > 0)
    stream << seed << '%' << *limit;
  else
    stream << '0';
  return text;
}

Expected<std::vector<std::string>> makeArguments(const Options &options, func::FuncOp function,
                                                 llvm::ArrayRef<std::optional<Array>> known,
                                                 llvm::raw_ostream &stream) {
  Expected<Shapes> shapes = findShapes(options, function, known);
  if (!shapes)
    return shapes.takeError();
  std::vector<std::string> texts;
  for (BlockArgument argument : function.getArguments())
    if (!known[argument.getArgNumber()])
      texts.push_back(makeText(argument, *shapes));
  if (texts.empty())
    return texts;
  stream << "resid-run: note: no --arg is given, so these are taken:";
  for (const std::string &text : texts)
    stream << " '--arg=" << text << '\'';
  stream << '\n';
  return texts;
}

} // namespace mlir::resid::run
