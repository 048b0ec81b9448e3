// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collecting; see KernelReport.h. How it is printed stands in PrintKernelReport.cpp.

#include "codegen/KernelReport.h"

#include "codegen/Pipelines.h"
#include "codegen/Transitions.h"
#include "codegen/attention/AttentionDialect.h"
#include "codegen/blocks/Passes.h"
#include "codegen/rows/Passes.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;

/// At a kernel between the two collections: its name in the report.
static constexpr llvm::StringLiteral kNameAttribute = "resid.kernel";

/// The first of the ops that a location tells.
static rows::SourceOp getFirstSource(ArrayRef<rows::SourceOp> ops) {
  return ops.empty() ? rows::SourceOp{"an op", ""} : ops.front();
}

namespace {

/// Collects the kernels of one function.
class FunctionReader {
public:
  FunctionReader(func::FuncOp function, boundary::KernelSignature signature, const kernels::Target &target)
      : function(function), signature(std::move(signature)), target(target) {}

  void run(ReportedFunction &result, std::vector<ReportedKernel> &kernels);

private:
  ReportedKernel read(rows::KernelOp kernel);
  /// Of kernels that read and write each element once.
  ReportedKernel read(DestinationStyleOpInterface kernel);
  ReportedKernel start(Operation *kernel);
  void collectTransitions(std::vector<ReportedTransition> &result);
  ReportedTransition readTransition(const SetVector<Operation *> &members);
  void addOperands(ArrayRef<rows::OperandTraffic> operands, ReportedKernel &result);
  rows::ByteCount countBytes(Value tensor);
  std::string nameDimension(Value tensor, int64_t dimension);
  std::string nameSize(Value size);
  std::string nameOther(Value value, int64_t dimension);
  std::string nameTensor(Value tensor);
  std::optional<size_t> findPlace(Value value);
  /// The argument (result) of the signature that a tensor or buffer is, if any.
  const boundary::KernelValue *findArgument(Value value);
  const boundary::KernelValue *findResult(Value value);

  func::FuncOp function;
  boundary::KernelSignature signature;
  const kernels::Target &target;
  llvm::MapVector<Operation *, std::string> names;
  CompulsoryBytes compulsory{llvm::IsaPred<kernels::KernelOpInterface>};
  /// What each kernel reads and writes.
  DenseMap<Operation *, SmallVector<rows::OperandTraffic>> traffic;
  /// Sizes that no argument says: a value that is a size (with dimension 0), or a dimension of a tensor.
  DenseMap<std::pair<Value, int64_t>, unsigned> otherSizes;
};

} // namespace

/// The number that the function's argument `value` has in the signature (arguments, then results). The first argument
/// of the function is the context; a loop's arguments are none.
std::optional<size_t> FunctionReader::findPlace(Value value) {
  while (isa_and_present<tensor::CastOp, tensor::ExpandShapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  if (auto tensor = value.getDefiningOp<bufferization::ToTensorOp>())
    value = tensor.getBuffer();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &function.getBody().front() || argument.getArgNumber() == 0)
    return std::nullopt;
  return argument.getArgNumber() - 1;
}

const boundary::KernelValue *FunctionReader::findArgument(Value value) {
  std::optional<size_t> place = findPlace(value);
  return place && *place < signature.arguments.size() ? &signature.arguments[*place] : nullptr;
}

const boundary::KernelValue *FunctionReader::findResult(Value value) {
  std::optional<size_t> place = findPlace(value);
  if (!place || *place < signature.arguments.size())
    return nullptr;
  size_t number = *place - signature.arguments.size();
  return number < signature.results.size() ? &signature.results[number] : nullptr;
}

std::string FunctionReader::nameOther(Value value, int64_t dimension) {
  unsigned number = otherSizes.try_emplace({value, dimension}, otherSizes.size()).first->second;
  return "size" + std::to_string(number);
}

/// The parameter of the C function that says the size; where none does, a number after "size".
std::string FunctionReader::nameSize(Value size) {
  APInt dim;
  Operation *op = size.getDefiningOp();
  if (isa_and_present<memref::DimOp, tensor::DimOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&dim)))
    return nameDimension(op->getOperand(0), dim.getSExtValue());
  return nameOther(size, 0);
}

/// The dimension alone of the source that a dimension of the collapsed tensor is, if it is one.
static std::optional<int64_t> findSource(tensor::CollapseShapeOp op, int64_t dimension) {
  ReassociationIndices group = op.getReassociationIndices()[dimension];
  return group.size() == 1 ? std::optional(group.front()) : std::nullopt;
}

/// The size that a slice's dimension has, of which the slice may have dropped some.
static OpFoldResult findSize(tensor::ExtractSliceOp slice, int64_t dimension) {
  SmallVector<OpFoldResult> sizes;
  for (auto [place, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!slice.getDroppedDims().test(place))
      sizes.push_back(size);
  return sizes[dimension];
}

/// The same for a dimension that is not known. A reshaped argument has other dimensions than the argument.
std::string FunctionReader::nameDimension(Value tensor, int64_t dimension) {
  while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    tensor = cast.getSource();
  if (auto expanded = tensor.getDefiningOp<tensor::ExpandShapeOp>()) {
    OpFoldResult size = expanded.getMixedOutputShape()[dimension];
    auto value = dyn_cast<Value>(size);
    return value ? nameSize(value) : std::to_string(*getConstantIntValue(size));
  }
  if (const boundary::KernelValue *argument = findArgument(tensor))
    if (int64_t extent = argument->shape[dimension]; extent < 0)
      return signature.sizes[signature.sizes[-1 - extent].sameAs].name;
  if (auto collapsed = tensor.getDefiningOp<tensor::CollapseShapeOp>())
    if (std::optional<int64_t> source = findSource(collapsed, dimension))
      return nameDimension(collapsed.getSrc(), *source);
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
    if (auto size = dyn_cast<Value>(findSize(slice, dimension)))
      return nameSize(size);
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>(); empty && empty.getType().isDynamicDim(dimension))
    return nameSize(empty.getDynamicSize(dimension));
  if (auto destination = tensor.getDefiningOp<DestinationStyleOpInterface>())
    return nameDimension(destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dimension);
  return nameOther(tensor, dimension);
}

/// The buffer that a destination of another type or shape is.
static Value skipViews(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// As in `[0, 2, 0]`.
static std::string printOffsets(tensor::ExtractSliceOp slice) {
  auto offsets = llvm::map_range(slice.getStaticOffsets(), [](int64_t offset) {
    return ShapedType::isDynamic(offset) ? std::string("?") : std::to_string(offset);
  });
  return "[" + llvm::join(offsets, ", ") + "]";
}

std::string FunctionReader::nameTensor(Value tensor) {
  if (const boundary::KernelValue *argument = findArgument(tensor))
    return argument->name;
  if (auto result = dyn_cast<OpResult>(tensor); result && isa<kernels::KernelOpInterface>(result.getOwner())) {
    Value whole = tensor;
    for (Operation *user : tensor.getUsers())
      if (auto joined = dyn_cast<tensor::CollapseShapeOp>(user))
        whole = joined;
    for (OpOperand &use : whole.getUses())
      if (isa<bufferization::MaterializeInDestinationOp>(use.getOwner()))
        if (const boundary::KernelValue *place = findResult(skipViews(use.getOwner()->getOperand(1))))
          return place->name;
    return "result " + std::to_string(result.getResultNumber()) + " of " + names.lookup(result.getOwner());
  }
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
    return "part " + printOffsets(slice) + " of " + nameTensor(slice.getSource());
  if (isa_and_present<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(tensor.getDefiningOp()))
    return nameTensor(tensor.getDefiningOp()->getOperand(0));
  if (auto joined = tensor.getDefiningOp<rows::JoinStreamsOp>();
      joined && isWrittenBy(llvm::IsaPred<kernels::KernelOpInterface>, tensor))
    return "streams of " + names.lookup(joined.getStreams().front().getDefiningOp());
  if (Operation *op = tensor.getDefiningOp()) {
    SmallVector<rows::SourceOp> ops = rows::getSourceOps(op->getLoc());
    return "result of " + (ops.empty() ? op->getName().getStringRef().str() : ops.front().print());
  }
  return "value that a loop carries";
}

void FunctionReader::addOperands(ArrayRef<rows::OperandTraffic> operands, ReportedKernel &result) {
  for (const rows::OperandTraffic &operand : operands) {
    (operand.isOutput ? result.written : result.read) += operand.bytes;
    result.compulsory += compulsory.count(operand);
    std::string type;
    llvm::raw_string_ostream(type) << operand.tensor.getType();
    result.operands.push_back({nameTensor(operand.tensor), type, operand});
  }
}

/// What kernels of all kinds have.
ReportedKernel FunctionReader::start(Operation *kernel) {
  ReportedKernel result;
  result.function = signature.symbol;
  result.name = names.lookup(kernel);
  result.fused = rows::getSourceOps(kernel->getLoc());
  result.plans = target.describe(kernel);
  return result;
}

rows::ByteCount FunctionReader::countBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t factor = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  std::vector<std::string> sizes;
  for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(nameDimension(tensor, dimension));
    else
      factor *= size;
  }
  rows::ByteCount bytes;
  bytes.add(std::move(sizes), factor);
  return bytes;
}

ReportedKernel FunctionReader::read(DestinationStyleOpInterface kernel) {
  ReportedKernel result = start(kernel);
  SmallVector<rows::OperandTraffic> &operands = traffic[kernel];
  for (OpOperand *operand : kernel.getDpsInputOperands())
    if (isa<RankedTensorType>(operand->get().getType()))
      operands.push_back({operand->get(), /*isOutput=*/false, countBytes(operand->get()), /*loads=*/1, /*stores=*/0});
  for (Value written : kernel->getResults())
    operands.push_back({written, /*isOutput=*/true, countBytes(written), /*loads=*/0, /*stores=*/1});
  addOperands(operands, result);
  return result;
}

ReportedKernel FunctionReader::read(rows::KernelOp kernel) {
  ReportedKernel result = start(kernel);
  result.program = kernel->getAttrOfType<StringAttr>(rows::kProgramAttribute).getValue().str();
  traffic[kernel] = rows::measureTraffic(kernel, [this](Value size) { return nameSize(size); });
  addOperands(traffic[kernel], result);
  assert(kernel->hasAttr(rows::kRefusalsAttribute) && "kernels must be formed with record");
  auto refusals = kernel->getAttrOfType<ArrayAttr>(rows::kRefusalsAttribute);
  for (auto refusal : refusals.getAsRange<DictionaryAttr>()) {
    auto locate = [&](StringRef key) { return getFirstSource(rows::getSourceOps(refusal.getAs<LocationAttr>(key))); };
    std::string reason = refusal.getAs<StringAttr>(rows::kReasonKey).getValue().str();
    ReportedRefusal entry{locate(rows::kOpKey),
                          "not in the kernel of " + locate(rows::kOtherKey).print() + ": " + reason};
    // The parts of an op, a norm's statistics say, are refused alike.
    auto isSame = [&](const ReportedRefusal &other) { return other.op == entry.op && other.reason == entry.reason; };
    if (llvm::none_of(result.refusals, isSame))
      result.refusals.push_back(std::move(entry));
  }
  return result;
}

ReportedTransition FunctionReader::readTransition(const SetVector<Operation *> &members) {
  auto isMember = [&](Operation *op) { return members.contains(op); };
  CompulsoryBytes needed(isMember);
  ReportedTransition result;
  for (auto &[kernel, name] : names) {
    if (!members.contains(kernel))
      continue;
    result.kernels.push_back(name);
    for (const rows::OperandTraffic &operand : traffic[kernel]) {
      (operand.isOutput ? result.written : result.read) += operand.bytes;
      result.compulsory += needed.count(operand);
    }
  }
  return result;
}

void FunctionReader::collectTransitions(std::vector<ReportedTransition> &result) {
  for (const SetVector<Operation *> &members : findTransitions(llvm::to_vector(llvm::make_first_range(names))))
    result.push_back(readTransition(members));
}

void FunctionReader::run(ReportedFunction &result, std::vector<ReportedKernel> &kernels) {
  result.name = signature.symbol;
  function.walk([&](Operation *op) {
    if (isa<kernels::KernelOpInterface>(op))
      names[op] = (Twine(signature.symbol) + "." + Twine(names.size())).str();
  });
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto kernel = dyn_cast<rows::KernelOp>(op)) {
      kernels.push_back(read(kernel));
      return WalkResult::skip();
    }
    if (isa<kernels::KernelOpInterface>(op)) {
      kernels.push_back(read(cast<DestinationStyleOpInterface>(op)));
      return WalkResult::skip();
    }
    if (isa_and_present<linalg::LinalgDialect>(op->getDialect()) && op->getNumResults() != 0 &&
        !isa<linalg::FillOp>(op) && !isa<linalg::LinalgOp>(op->getParentOp()))
      for (rows::SourceOp &source : rows::getSourceOps(op->getLoc()))
        if (!llvm::is_contained(result.otherOps, source)) // maximum and sum of one softmax, say
          result.otherOps.push_back(std::move(source));
    return WalkResult::advance();
  });
  collectTransitions(result.transitions);
  // Kernels that are equal but for what is noted at them are to stay equal.
  for (auto &[kernel, name] : names) {
    kernel->removeAttr(rows::kProgramAttribute);
    kernel->removeAttr(rows::kRefusalsAttribute);
    kernel->setAttr(kNameAttribute, StringAttr::get(kernel->getContext(), name));
  }
}

//===------------------------------------------- the whole module -------------------------------------------------===//

void KernelReport::begin(ModuleOp program) { rows::nameSourceOps(program); }

void KernelReport::addRefusal(Location place, StringRef reason) {
  auto file = place->findInstanceOf<FileLineColLoc>();
  std::string at = file ? std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn()) : "";
  programRefusals.push_back({at, reason.str()});
}

void KernelReport::collect(StringRef stage, ModuleOp module, const kernels::Target *target) {
  if (stage == stages::kResid)
    collectChains(module);
  if (stage == stages::kRowKernels)
    collectKernels(module, *target);
  if (stage == stages::kBuffers)
    collectRowBlocks(module, *target);
}

void KernelReport::collectChains(ModuleOp module) {
  rows::nameSourceOps(module);
  for (const FusionRefusal &refusal : collectFusionRefusals(module)) {
    SmallVector<rows::SourceOp> ops = rows::getSourceOps(refusal.op->getLoc());
    rows::SourceOp op = ops.empty() ? rows::SourceOp{refusal.op->getName().getStringRef().str(), ""} : ops.front();
    std::string reason = "resid.add_norm " + refusal.reason;
    if (refusal.reader)
      if (SmallVector<rows::SourceOp> readers = rows::getSourceOps(refusal.reader->getLoc()); !readers.empty())
        reason += ", " + readers.front().print();
    chains.push_back({refusal.op->getParentOfType<func::FuncOp>().getLoc(), {op, reason}});
  }
}

void KernelReport::collectKernels(ModuleOp module, const kernels::Target &target) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto attribute = function->getAttrOfType<DictionaryAttr>(boundary::kSignatureAttribute);
    if (!attribute || function.isExternal())
      continue;
    functions.emplace_back();
    size_t first = kernels.size();
    FunctionReader(function, boundary::KernelSignature::fromAttribute(attribute), target)
        .run(functions.back(), kernels);
    for (const auto &[place, refusal] : chains) {
      if (place != function.getLoc())
        continue;
      auto holder =
          llvm::find_if(llvm::drop_begin(kernels, first), [&, &op = refusal.op](const ReportedKernel &kernel) {
            return llvm::is_contained(kernel.fused, op);
          });
      (holder == kernels.end() ? functions.back().refusals : holder->refusals).push_back(refusal);
    }
  }
}

void KernelReport::collectRowBlocks(ModuleOp module, const kernels::Target &target) {
  llvm::StringMap<ReportedKernel *> byName;
  for (ReportedKernel &kernel : kernels)
    byName[kernel.name] = &kernel;
  auto find = [&](Operation &op) -> ReportedKernel * {
    auto name = op.getAttrOfType<StringAttr>(kNameAttribute);
    return name ? byName.lookup(name.getValue()) : nullptr;
  };
  module.walk([&](contraction::RowBlocksOp blocks) {
    SmallVector<ReportedKernel *> members;
    for (Operation &op : blocks.getBody().front())
      if (ReportedKernel *member = find(op))
        members.push_back(member);
    for (ReportedKernel *member : members) {
      std::vector<std::string> others;
      for (ReportedKernel *other : members)
        if (other != member)
          others.push_back(other->name);
      for (auto [plan, decision] : llvm::zip(member->plans, target.describeTogether(blocks, others)))
        plan.decisions.push_back(std::move(decision));
    }
  });
  module.walk([&](contraction::KernelOp product) {
    auto refusal = product->getAttrOfType<StringAttr>(blocks::kRowBlocksRefusal);
    if (ReportedKernel *kernel = refusal ? find(*product) : nullptr)
      kernel->refusals.push_back(
          {getFirstSource(kernel->fused), "does not run by blocks of rows with the row kernel beside "
                                          "it: " +
                                              refusal.getValue().str()});
    product->removeAttr(blocks::kRowBlocksRefusal);
  });
  module.walk([](Operation *op) {
    if (isa<kernels::KernelOpInterface>(op))
      op->removeAttr(kNameAttribute);
  });
}
