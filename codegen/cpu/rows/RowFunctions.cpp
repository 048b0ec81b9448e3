// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares kernels and outlines them.

#include "codegen/cpu/rows/RowFunctions.h"

#include "codegen/cpu/rows/ScalarRows.h"
#include "codegen/cpu/rows/VectorRows.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;

static Attribute getConstant(Value value) {
  Attribute attribute;
  return matchPattern(value, m_Constant(&attribute)) ? attribute : Attribute();
}

//===------------------------------------------- a kernel where it stands -----------------------------------------===//

/// Gives the number of each dropout site a constant of its own, so that it can become an argument alone.
static void separateSites(rows::KernelOp kernel) {
  OpBuilder builder(kernel);
  DenseMap<Value, Value> separate;
  kernel.walk([&](rows::RandomHalfOp half) {
    if (!getConstant(half.getSite()))
      return;
    Value &own = separate[half.getSite()];
    if (!own)
      own = builder.clone(*half.getSite().getDefiningOp())->getResult(0);
    half.getSiteMutable().assign(own);
  });
}

/// Leaves no rows to go through where rows have no columns and nothing is written once per row.
static void dropEmptyRows(OpBuilder &builder, rows::KernelOp kernel, KernelAddresses &addresses) {
  unsigned operands = addresses.operands.size();
  for (unsigned init = kernel.getInputs().size(); init < operands; ++init)
    if (!kernel.isAlongColumns(init))
      return;
  if (matchPattern(addresses.width, m_NonZero()))
    return;
  Location loc = kernel.getLoc();
  Value none = constantI64(builder, loc, 0);
  Value isEmpty = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, addresses.width, none);
  addresses.rows = builder.createOrFold<arith::SelectOp>(loc, isEmpty, none, addresses.rows);
}

static SmallVector<Value> collectOuterValues(rows::KernelOp kernel, KernelAddresses &addresses) {
  SmallVector<Value> values;
  addresses.forEachValue([&](Value &value) { values.push_back(value); });
  kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!kernel.getBodyRegion().isAncestor(operand.getParentRegion()))
        values.push_back(operand);
  });
  return values;
}

FailureOr<KernelUse> KernelUse::prepare(rows::KernelOp kernel, const CPUTarget &target) {
  KernelUse use{kernel, kernel->getParentOfType<func::FuncOp>(), {}, planKernel(kernel, target), {}};
  if (!use.enclosing)
    return kernel.emitOpError("expected a function around the kernel");
  OpBuilder builder(kernel);
  FailureOr<KernelAddresses> addresses = computeKernelAddresses(builder, kernel);
  if (failed(addresses))
    return failure();
  use.addresses = *addresses;
  dropEmptyRows(builder, kernel, use.addresses);
  if (!use.plan.obstacle.empty())
    kernel.emitRemark() << "takes the scalar path (bit-exact): " << use.plan.obstacle;
  separateSites(kernel);
  use.outerValues = collectOuterValues(kernel, use.addresses);
  for (Value value : use.outerValues)
    if (!value.getType().isIntOrIndexOrFloat() && !isa<LLVM::LLVMPointerType>(value.getType()))
      return kernel.emitOpError("expected only scalars from above, but got ") << value.getType();
  return use;
}

//===------------------------------------------- which kernels are equal ------------------------------------------===//

/// Whether two kernels on operands of the same types do the same, whatever values they take from above.
static bool haveEqualBodies(rows::KernelOp a, rows::KernelOp b) {
  DenseMap<Value, Value> partners;
  auto check = [&](Value of, Value other) {
    bool isOuter = !a.getBodyRegion().isAncestor(of.getParentRegion());
    bool isOtherOuter = !b.getBodyRegion().isAncestor(other.getParentRegion());
    return success(isOuter ? isOtherOuter : partners.lookup(of) == other);
  };
  auto mark = [&](Value of, Value other) { partners[of] = other; };
  return OperationEquivalence::isEquivalentTo(a, b, check, mark, OperationEquivalence::IgnoreLocations);
}

/// Whether rows are found in the same way, whatever the strides are: that may hang on the buffer beside its type.
static bool areAddressedAlike(const KernelAddresses &a, const KernelAddresses &b) {
  return llvm::equal(a.operands, b.operands, [](const OperandAddress &one, const OperandAddress &other) {
    return !one.linearStride == !other.linearStride &&
           llvm::equal(llvm::make_first_range(one.strides), llvm::make_first_range(other.strides));
  });
}

/// Whether a constant is the number of a dropout site and nothing else (separateSites).
static bool isSite(Value constant) {
  return llvm::all_of(constant.getUses(), [](OpOperand &use) {
    auto half = dyn_cast<rows::RandomHalfOp>(use.getOwner());
    return half && &half.getSiteMutable() == &use;
  });
}

bool RowFunctions::takeIn(KernelUse &other) {
  ArrayRef<Value> own = first.outerValues, theirs = other.outerValues;
  if (first.plan.path != other.plan.path || own.size() != theirs.size() ||
      !areAddressedAlike(first.addresses, other.addresses) || !haveEqualBodies(first.kernel, other.kernel))
    return false;
  SmallVector<unsigned> sites;
  DenseMap<Value, Value> partners;
  for (unsigned i = 0; i < own.size(); ++i) {
    Attribute constant = getConstant(own[i]), otherConstant = getConstant(theirs[i]);
    if (own[i].getType() != theirs[i].getType() || !constant != !otherConstant)
      return false;
    bool canBeArgument = !constant || isSite(own[i]);
    if (!canBeArgument && constant != otherConstant)
      return false;
    // What is one argument of the functions has to be one value everywhere.
    if (canBeArgument && partners.try_emplace(own[i], theirs[i]).first->second != theirs[i])
      return false;
    if (constant != otherConstant)
      sites.push_back(i);
  }
  differing.insert_range(sites);
  return true;
}

//===------------------------------------------- the functions ----------------------------------------------------===//

SmallVector<RowFunctions::Parameter> RowFunctions::collectParameters() const {
  SmallVector<Parameter> parameters;
  SmallPtrSet<Value, 16> seen;
  for (auto [i, value] : llvm::enumerate(first.outerValues))
    if (seen.insert(value).second)
      parameters.push_back({value, unsigned(i), getConstant(value) && !differing.contains(i)});
  return parameters;
}

void RowFunctions::outline() {
  SmallVector<Parameter> parameters = collectParameters();
  llvm::copy_if(parameters, std::back_inserter(arguments), [](const Parameter &one) { return !one.isConstant; });
  rareFunctions.create = [this](TypeRange argumentTypes, TypeRange resultTypes) {
    func::FuncOp function = createFunction("__rare", argumentTypes, resultTypes);
    setAttributes(function, StringRef("cold"));
    return function;
  };
  rowFunction = outline("__rows", parameters, Form::Rows);
  if (first.plan.hasLoneRow)
    loneRowFunction = outline("__row", parameters, Form::LoneRow);
  if (first.plan.streamed)
    streamFunction = outline("__stream", parameters, Form::Stream);
}

func::FuncOp RowFunctions::createFunction(const Twine &suffix, TypeRange argumentTypes, TypeRange resultTypes) {
  StringRef base = first.enclosing.getName();
  base.consume_back(".impl");
  auto type = FunctionType::get(first.enclosing.getContext(), argumentTypes, resultTypes);
  auto function = func::FuncOp::create(first.kernel.getLoc(), (base + suffix).str(), type);
  function.setPrivate();
  symbols.insert(function, first.enclosing->getIterator());
  function.addEntryBlock();
  return function;
}

/// One copy serves all calls: the plain ones and those of tasks. Short copies of the last columns are not to become
/// calls.
void RowFunctions::setAttributes(func::FuncOp function, ArrayRef<StringRef> more) const {
  SmallVector<StringRef> attributes = {"noinline", "no-builtins"};
  if (first.plan.path == RowPath::Vector)
    attributes.push_back(kVectorLoopsAttribute);
  llvm::append_range(attributes, more);
  function->setAttr("passthrough", OpBuilder(function).getStrArrayAttr(attributes));
}

/// As an argument of a function; there it is an index again.
static Type getArgumentType(Value value) {
  return value.getType().isIndex() ? IntegerType::get(value.getContext(), 64) : value.getType();
}

/// The kernel as a function.
func::FuncOp RowFunctions::outline(const Twine &suffix, ArrayRef<Parameter> parameters, Form form) {
  OpBuilder builder(first.kernel.getContext());
  Location loc = first.kernel.getLoc();
  auto types = llvm::map_to_vector(arguments, [](const Parameter &one) { return getArgumentType(one.value); });
  if (form != Form::LoneRow)
    types.append(2, builder.getI64Type());
  func::FuncOp function = createFunction(suffix, types);
  setAttributes(function);
  Block *entry = &function.getBody().front();
  builder.setInsertionPointToStart(entry);

  IRMapping mapping;
  unsigned next = 0;
  for (const Parameter &parameter : parameters) {
    Value inner = parameter.isConstant ? builder.clone(*parameter.value.getDefiningOp())->getResult(0)
                                       : Value(entry->getArgument(next++));
    if (inner.getType() != parameter.value.getType())
      inner = arith::IndexCastOp::create(builder, loc, parameter.value.getType(), inner);
    mapping.map(parameter.value, inner);
  }
  KernelAddresses addresses = first.addresses;
  addresses.forEachValue([&](Value &value) { value = mapping.lookup(value); });
  emitRows(builder, entry, addresses, mapping, form);
  func::ReturnOp::create(builder, loc);
  return function;
}

/// The rows of a form; their range stands in the last two arguments.
void RowFunctions::emitRows(OpBuilder &builder, Block *entry, const KernelAddresses &addresses,
                            const IRMapping &mapping, Form form) {
  Location loc = first.kernel.getLoc();
  bool isStream = form == Form::Stream, isPipelined = isStream && first.plan.isPipelined(),
       isBatched = first.plan.isBatched && !isPipelined && form != Form::LoneRow;
  const StreamedRows *stream = isStream ? &*first.plan.streamed : nullptr;
  auto getBound = [&](unsigned behind) { return entry->getArgument(entry->getNumArguments() - behind); };
  if (first.plan.path == RowPath::Scalar)
    return ScalarRowEmitter(builder, entry, addresses, mapping, target.vectorBits)
        .emitRows(first.kernel, getBound(2), getBound(1));
  VectorRowEmitter rows(builder, entry, addresses, mapping, target, stream, isStream && first.plan.prefetch,
                        &rareFunctions, isBatched);
  if (form == Form::LoneRow)
    return rows.emitRow(first.kernel, constantI64(builder, loc, 0));
  isPipelined ? rows.emitPipelinedRows(first.kernel, getBound(2), getBound(1))
  : isBatched ? rows.emitBatchedRows(first.kernel, getBound(2), getBound(1))
              : rows.emitRows(first.kernel, getBound(2), getBound(1));
  rows.finish(loc); // Other threads may read what was written once this function has returned.
}

SmallVector<Value> RowFunctions::getArguments(OpBuilder &builder, KernelUse &use) const {
  return llvm::map_to_vector(arguments, [&](const Parameter &parameter) {
    Value value = use.outerValues[parameter.position];
    return value.getType().isIndex() ? castToI64(builder, use.kernel.getLoc(), value) : value;
  });
}
