// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares and outlines kernels.

#include "codegen/kernels/SharedFunctions.h"

#include "codegen/kernels/ElementMemory.h"
#include "codegen/kernels/Extent.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

static Attribute getConstant(Value value) {
  Attribute attribute;
  return matchPattern(value, m_Constant(&attribute)) ? attribute : Attribute();
}

//===------------------------------------------- a kernel where it stands -----------------------------------------===//

KernelUse KernelUse::create(Operation *op, std::shared_ptr<KernelIndexing> indexing, ValueRange outer) {
  KernelUse use{op, op->getParentOfType<func::FuncOp>(),   std::move(indexing), {},
                0,  llvm::SmallDenseMap<unsigned, Value>()};
  use.indexing->forEachValue([&](Value &value) { use.values.push_back(value); });
  use.firstOuter = use.values.size();
  llvm::append_range(use.values, outer);
  return use;
}

ConstantUse KernelUse::getConstantUse(unsigned place) const {
  return indexing->getConstantUse(values[place], /*isOuter=*/place >= firstOuter);
}

bool KernelUse::isInCode(unsigned place) const {
  return getConstant(values[place]) && getConstantUse(place) == ConstantUse::InCode;
}

FailureOr<KernelUse> KernelUse::prepare(KernelOpInterface kernel) {
  if (!kernel->getParentOfType<func::FuncOp>())
    return kernel->emitOpError("expected a function around the kernel");
  OpBuilder builder(kernel);
  FailureOr<std::shared_ptr<KernelIndexing>> indexing = kernel.computeIndexing(builder);
  if (failed(indexing))
    return failure();
  KernelUse use = create(kernel, *indexing, kernel.getOuterScalars());
  for (Value value : use.values)
    if (!value.getType().isIntOrIndexOrFloat() && !isa<LLVM::LLVMPointerType>(value.getType()))
      return kernel->emitOpError("expected only scalars from above, but got ") << value.getType();
  return use;
}

//===------------------------------------------- which kernels are equal ------------------------------------------===//

/// Whether the regions of two ops do the same, whatever values they take from above.
static bool haveEqualRegions(Operation *a, Operation *b) {
  DenseMap<Value, Value> partners;
  auto check = [&](Value of, Value other) {
    bool isOuter = !a->isAncestor(of.getParentRegion()->getParentOp());
    bool isOtherOuter = !b->isAncestor(other.getParentRegion()->getParentOp());
    return success(isOuter ? isOtherOuter : partners.lookup(of) == other);
  };
  auto mark = [&](Value of, Value other) { partners[of] = other; };
  return llvm::equal(a->getRegions(), b->getRegions(), [&](Region &one, Region &other) {
    return OperationEquivalence::isRegionEquivalentTo(&one, &other, check, mark, OperationEquivalence::IgnoreLocations);
  });
}

SharedFunctions::SharedFunctions(KernelUse use, SymbolTable &symbols) : first(std::move(use)), symbols(symbols) {
  DenseMap<std::pair<Value, unsigned>, unsigned> seen;
  for (auto [i, value] : llvm::enumerate(first.values))
    places.push_back(seen.try_emplace({value, unsigned(first.isInCode(i))}, i).first->second);
}

bool SharedFunctions::takeIn(KernelUse &other) {
  ArrayRef<Value> own = first.values, theirs = other.values;
  if (first.op->getName() != other.op->getName() || first.indexing->getFacts() != other.indexing->getFacts() ||
      own.size() != theirs.size() || !haveEqualRegions(first.op, other.op))
    return false;
  SmallVector<unsigned> refined = places;
  DenseMap<std::pair<unsigned, Value>, unsigned> firstPlaces;
  DenseMap<Value, Value> partners;
  SmallVector<unsigned> unequal;
  for (unsigned i = 0; i < own.size(); ++i) {
    if (own[i].getType() != theirs[i].getType() || first.pointers.contains(i) != other.pointers.contains(i))
      return false;
    bool isDifferent = getConstant(own[i]) != getConstant(theirs[i]);
    bool isInCode = first.isInCode(i) || other.isInCode(i);
    if (isDifferent && isInCode)
      return false;
    if (!isInCode)
      refined[i] = firstPlaces.try_emplace({places[i], theirs[i]}, i).first->second;
    // Regions are copied from the first kernel: what is one value there has to be one value everywhere.
    if (i >= first.firstOuter && partners.try_emplace(own[i], theirs[i]).first->second != theirs[i] && !isInCode)
      return false;
    if (isDifferent)
      unequal.push_back(i);
  }
  places = refined;
  differing.insert_range(unequal);
  return true;
}

//===------------------------------------------- functions --------------------------------------------------------===//

/// Every value from above once, the arguments and the constants that are made again.
SmallVector<SharedFunctions::Parameter> SharedFunctions::collectParameters() const {
  SmallVector<Parameter> parameters;
  for (auto [i, value] : llvm::enumerate(first.values)) {
    if (places[i] != i)
      continue;
    bool isConstant = getConstant(value) && !differing.contains(i) && first.getConstantUse(i) != ConstantUse::Argument;
    parameters.push_back({value, unsigned(i), isConstant});
  }
  return parameters;
}

func::FuncOp SharedFunctions::createFunction(const Twine &suffix, TypeRange argumentTypes, TypeRange resultTypes) {
  StringRef base = first.enclosing.getName();
  base.consume_back(".impl");
  auto type = FunctionType::get(first.op->getContext(), argumentTypes, resultTypes);
  auto function = func::FuncOp::create(first.op->getLoc(), (base + suffix).str(), type);
  function.setPrivate();
  symbols.insert(function, first.enclosing->getIterator());
  function.addEntryBlock();
  return function;
}

/// What a value is passed as. LLVM has holes in what it does with arguments of 16-bit floats.
static Type getPassedType(Type type) {
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  return type.isF16() || type.isBF16() ? IntegerType::get(type.getContext(), 16) : type;
}

/// To what a value is passed as, and back.
static Value castPassed(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return value.getType().isIndex() ? castToI64(builder, loc, value)
                                   : Value(arith::BitcastOp::create(builder, loc, type, value));
}

func::FuncOp SharedFunctions::outline(const Twine &suffix, TypeRange more, EmitBody emit) {
  OpBuilder builder(first.op->getContext());
  Location loc = first.op->getLoc();
  SmallVector<Parameter> parameters = collectParameters();
  SmallVector<Type> types;
  for (const Parameter &parameter : parameters) {
    Value pointer = first.pointers.lookup(parameter.place);
    if (!parameter.isConstant)
      types.push_back(pointer ? pointer.getType() : getPassedType(parameter.value.getType()));
  }
  llvm::append_range(types, more);
  func::FuncOp function = createFunction(suffix, types);
  KernelBody body{&function.getBody().front(), first.indexing->clone(), {}};
  builder.setInsertionPointToStart(body.entry);
  unsigned next = 0;
  DenseMap<unsigned, Value> inner;
  for (const Parameter &parameter : parameters) {
    Value value = parameter.isConstant ? builder.clone(*parameter.value.getDefiningOp())->getResult(0)
                                       : Value(body.entry->getArgument(next++));
    Type type = parameter.value.getType();
    inner[parameter.place] =
        first.pointers.contains(parameter.place)
            ? loadElement(builder, loc, type, value, constantI64(builder, loc, 0), Alignment::Element)
            : castPassed(builder, loc, value, type);
  }
  unsigned place = 0;
  body.indexing->forEachValue([&](Value &value) { value = inner.lookup(places[place++]); });
  for (; place < places.size(); ++place)
    body.mapping.map(first.values[place], inner.lookup(places[place]));
  emit(builder, body);
  builder.setInsertionPointToEnd(body.entry);
  func::ReturnOp::create(builder, loc);
  return function;
}

SmallVector<Value> SharedFunctions::getArguments(OpBuilder &builder, KernelUse &use) const {
  SmallVector<Value> arguments;
  for (const Parameter &parameter : collectParameters()) {
    Value value = use.values[parameter.place];
    if (Value pointer = use.pointers.lookup(parameter.place))
      arguments.push_back(pointer);
    else if (!parameter.isConstant)
      arguments.push_back(castPassed(builder, use.op->getLoc(), value, getPassedType(value.getType())));
  }
  return arguments;
}
