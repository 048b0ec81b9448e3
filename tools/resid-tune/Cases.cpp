// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-tune/Cases.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::resid;
using llvm::Error;
using llvm::Expected;
using run::makeError;

std::string tune::Case::getName() const {
  StringRef name = const_cast<func::FuncOp &>(function).getName();
  return shape.empty() ? name.str() : name.str() + " " + print(shape);
}

/// Whether the sizes of `type` that are known agree with those of `shape`, counted from the right.
static bool agrees(RankedTensorType type, ArrayRef<int64_t> shape) {
  for (auto [known, size] : llvm::zip(llvm::reverse(type.getShape()), llvm::reverse(shape)))
    if (!ShapedType::isDynamic(known) && known != size)
      return false;
  return true;
}

static auto getTensors(func::FuncOp function) {
  return llvm::make_filter_range(
      llvm::map_range(function.getArgumentTypes(), [](Type type) { return dyn_cast<RankedTensorType>(type); }),
      [](RankedTensorType type) { return bool(type); });
}

static bool hasOpenSizes(func::FuncOp function) {
  return llvm::any_of(getTensors(function), [](RankedTensorType type) { return !type.hasStaticShape(); });
}

/// An array of that shape is among the arguments, and no open size lies outside of it.
static bool fits(func::FuncOp function, const tune::Shape &shape) {
  int64_t rank = static_cast<int64_t>(shape.size());
  bool isOne = false;
  for (RankedTensorType type : getTensors(function)) {
    isOne |= type.getRank() == rank && agrees(type, shape);
    if (!type.hasStaticShape() && type.getRank() > rank)
      return false;
  }
  return isOne;
}

/// The public functions, or the one of that name.
static Expected<SmallVector<func::FuncOp>> findFunctions(ModuleOp program, StringRef entry) {
  SmallVector<func::FuncOp> found;
  SmallVector<StringRef> known;
  std::string names;
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPublic())
      continue;
    known.push_back(function.getName());
    names += (names.empty() ? "'" : ", '") + function.getName().str() + "'";
    if (entry.empty() || entry == function.getName())
      found.push_back(function);
  }
  if (!found.empty())
    return found;
  return makeError(tools::ExitUsage, "expected a public function" + (entry.empty() ? "" : " but got --entry=" + entry) +
                                         "; the program has " + (names.empty() ? "none" : names) +
                                         suggestNearest(entry, {known, {}, {}}));
}

/// Such as `x: ?x768, gamma: 768`.
static std::string describeTensors(func::FuncOp function) {
  SmallVector<std::string> texts;
  for (RankedTensorType type : getTensors(function)) {
    auto sizes = llvm::map_range(type.getShape(), [](int64_t size) {
      return ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size);
    });
    texts.push_back(llvm::join(sizes, "x"));
  }
  return llvm::join(texts, ", ");
}

/// An error that names the functions with open sizes, and what they take.
static Error wrongShape(ArrayRef<func::FuncOp> functions, const tune::Shape &shape) {
  SmallVector<std::string> texts;
  for (func::FuncOp function : functions)
    if (hasOpenSizes(function))
      texts.push_back(("'" + function.getName() + "' (" + describeTensors(function) + ")").str());
  return makeError(tools::ExitUsage, "expected --shapes of the largest arguments of " + llvm::join(texts, " or ") +
                                         ", but got '" + tune::print(shape) + "'");
}

Expected<std::vector<tune::Case>> tune::makeCases(ModuleOp program, const Options &options) {
  Expected<SmallVector<func::FuncOp>> functions = findFunctions(program, options.entry);
  if (!functions)
    return functions.takeError();
  std::vector<Case> cases;
  for (func::FuncOp function : *functions) {
    if (!hasOpenSizes(function)) {
      cases.push_back({function, {}});
      continue;
    }
    auto before = cases.size();
    for (const Shape &shape : options.shapes)
      if (fits(function, shape))
        cases.push_back({function, shape});
    if (cases.size() == before)
      return makeError(tools::ExitUsage, "expected --shapes for '" + function.getName() + "' (" +
                                             describeTensors(function) + "), which leaves sizes open, but got " +
                                             (options.shapes.empty() ? "none" : "none that fits"));
  }
  if (!options.shapes.empty() && llvm::all_of(cases, [](const Case &one) { return one.shape.empty(); }))
    return makeError(tools::ExitUsage, "expected no --shapes, because the program leaves no size open, but got '" +
                                           print(options.shapes.front()) + "'");
  for (const Shape &shape : options.shapes)
    if (llvm::none_of(cases, [&](const Case &one) { return one.shape == shape; }))
      return wrongShape(*functions, shape);
  return cases;
}

namespace {
struct TableText {
  StringLiteral name, text;
};
} // namespace

static constexpr TableText tableTexts[] = {
#include "KernelTexts.inc"
};

/// In the caches and beyond them, for each width.
static const tune::Shape tableShapes[] = {{32, 768}, {4096, 768}, {16, 4096}, {2048, 4096}};

static std::string replaceAll(StringRef text, StringRef from, StringRef to) {
  return llvm::join(llvm::split(text, from), to);
}

std::string tune::getTableText() {
  std::string table;
  for (StringRef element : {"f32", "bf16"})
    for (StringRef width : {"768", "4096"})
      for (const TableText &kernel : tableTexts) {
        std::string name = (kernel.name + "_" + element + "_" + width).str();
        std::string text = replaceAll(kernel.text, ("@" + kernel.name + "(").str(), "@" + name + "(");
        text = replaceAll(replaceAll(text, "<?x?xf32>", ("<?x" + width + "xf32>").str()), "<?xf32>",
                          ("<" + width + "xf32>").str());
        table += replaceAll(text, "xf32>", ("x" + element + ">").str());
      }
  return table;
}

Expected<std::vector<tune::Case>> tune::makeTableCases(ModuleOp table, StringRef entry) {
  Expected<SmallVector<func::FuncOp>> functions = findFunctions(table, entry);
  if (!functions)
    return functions.takeError();
  std::vector<Case> cases;
  for (func::FuncOp function : *functions)
    for (const Shape &shape : tableShapes)
      if (fits(function, shape))
        cases.push_back({function, shape});
  return cases;
}

/// An array of that shape, filled with the elements over and over.
static run::Array repeat(const run::Array &elements, Type type, ArrayRef<int64_t> sizes) {
  run::Array array = run::Array::zeros(type, sizes);
  for (int64_t at = 0; at < array.size(); at += elements.size()) {
    int64_t count = std::min(elements.size(), array.size() - at);
    if (array.isFloat())
      std::copy_n(elements.floats().begin(), count, array.mutableFloats().begin() + at);
    else
      std::copy_n(elements.integers().begin(), count, array.mutableIntegers().begin() + at);
  }
  return array;
}

/// The elements that are random and different; larger arrays repeat them, since making millions takes seconds.
static constexpr int64_t kRandomElements = 1 << 16;

/// In the form of --arg of resid-run: what an array of that shape begins with, or a scalar.
static Expected<run::Array> makeElements(func::FuncOp function, Type type, int64_t count, unsigned index) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(type));
  if (!isa<RankedTensorType>(type))
    return run::readArgument(function, index, isFloat ? "0.5" : "1");
  run::Array elements = run::Array::zeros(RankedTensorType::get({count}, getElementTypeOrSelf(type)), {count});
  isFloat ? run::fillRandom(elements, index + 1, 1.0) : llvm::fill(elements.mutableIntegers(), 1);
  return elements;
}

namespace {
/// The open sizes of a call. The largest arrays have those of the shape; what must be equal to one of them is, as in
/// one index per row; and what is left has the size at its place, counted from the right.
class OpenSizes {
public:
  OpenSizes(const tune::Case &one, const boundary::KernelSignature &signature)
      : shape(one.shape), signature(signature), known(signature.sizes.size(), -1) {
    for (const boundary::SizeParameter &parameter : signature.sizes)
      if (getRank(parameter) == shape.size())
        take(parameter, shape[parameter.dimension]);
    for (const boundary::SizeParameter &parameter : signature.sizes)
      take(parameter,
           parameter.fixed >= 0 ? parameter.fixed : shape[shape.size() - getRank(parameter) + parameter.dimension]);
  }

  int64_t get(unsigned argument, unsigned dimension) const {
    for (const boundary::SizeParameter &parameter : signature.sizes)
      if (parameter.argument == argument && parameter.dimension == dimension)
        return known[parameter.sameAs];
    llvm_unreachable("each open size is a parameter");
  }

private:
  size_t getRank(const boundary::SizeParameter &parameter) const {
    return signature.arguments[parameter.argument].shape.size();
  }
  void take(const boundary::SizeParameter &parameter, int64_t size) {
    if (known[parameter.sameAs] < 0)
      known[parameter.sameAs] = size;
  }

  const tune::Shape &shape;
  const boundary::KernelSignature &signature;
  /// By the first parameter of those that must be equal; -1 while it is not known.
  std::vector<int64_t> known;
};
} // namespace

/// Of each argument; none of a scalar.
static SmallVector<SmallVector<int64_t>> findSizes(const tune::Case &one, const boundary::KernelSignature &signature) {
  OpenSizes open(one, signature);
  SmallVector<SmallVector<int64_t>> sizes;
  for (auto [index, type] : llvm::enumerate(const_cast<func::FuncOp &>(one.function).getArgumentTypes())) {
    sizes.emplace_back();
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (unsigned i = 0; tensor && i != tensor.getRank(); ++i)
      sizes.back().push_back(tensor.isDynamicDim(i) ? open.get(index, i) : tensor.getDimSize(i));
  }
  return sizes;
}

/// As many as a number can say where there are more.
static int64_t multiply(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), [](int64_t a, int64_t b) {
    int64_t product;
    return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max() : product;
  });
}

int64_t tune::countElements(const Case &one, const boundary::KernelSignature &signature) {
  int64_t sum = 0;
  for (ArrayRef<int64_t> sizes : findSizes(one, signature))
    if (int64_t count = sizes.empty() ? 0 : multiply(sizes); llvm::AddOverflow(sum, count, sum))
      return std::numeric_limits<int64_t>::max();
  return sum;
}

Expected<std::vector<run::Array>> tune::makeArguments(const Case &one, const boundary::KernelSignature &signature) {
  func::FuncOp function = one.function;
  SmallVector<SmallVector<int64_t>> allSizes = findSizes(one, signature);
  std::vector<run::Array> arguments;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    ArrayRef<int64_t> sizes = allSizes[index];
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t count = multiply(sizes);
    Expected<run::Array> elements = makeElements(function, type, std::min(count, kRandomElements), index);
    if (!elements)
      return elements.takeError();
    arguments.push_back(tensor ? repeat(*elements, type, sizes) : std::move(*elements));
  }
  return arguments;
}
