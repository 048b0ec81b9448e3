// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines kernels; see KernelFunctions.h.

#include "codegen/kernels/KernelFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

bool KernelFunctions::takeIn(KernelUse &other) {
  std::optional<SmallVector<unsigned>> constants = findDifferingConstants(first, other);
  if (!constants)
    return false;
  differing.insert_range(*constants);
  return true;
}

/// Every value from above once, the arguments and the constants that are made again.
SmallVector<KernelFunctions::Parameter> KernelFunctions::collectParameters() const {
  SmallVector<Parameter> parameters;
  SmallPtrSet<Value, 16> seen;
  for (auto [i, value] : llvm::enumerate(first.outerValues))
    if (seen.insert(value).second)
      parameters.push_back({value, unsigned(i), getConstant(value) && !differing.contains(i)});
  return parameters;
}

func::FuncOp kernels::createFunctionBefore(func::FuncOp enclosing, SymbolTable &symbols, Location loc,
                                           const Twine &suffix, TypeRange argumentTypes, TypeRange resultTypes) {
  StringRef base = enclosing.getName();
  base.consume_back(".impl");
  auto type = FunctionType::get(enclosing.getContext(), argumentTypes, resultTypes);
  auto function = func::FuncOp::create(loc, (base + suffix).str(), type);
  function.setPrivate();
  symbols.insert(function, enclosing->getIterator());
  function.addEntryBlock();
  return function;
}

func::FuncOp KernelFunctions::createFunction(const Twine &suffix, TypeRange argumentTypes, TypeRange resultTypes) {
  return createFunctionBefore(first.enclosing, symbols, first.kernel.getLoc(), suffix, argumentTypes, resultTypes);
}

/// As an argument of a function; there it is an index again.
static Type getArgumentType(Value value) {
  return value.getType().isIndex() ? IntegerType::get(value.getContext(), 64) : value.getType();
}

func::FuncOp KernelFunctions::outline(const Twine &suffix, TypeRange more, EmitBody emit) {
  OpBuilder builder(first.kernel.getContext());
  Location loc = first.kernel.getLoc();
  SmallVector<Parameter> parameters = collectParameters();
  SmallVector<Type> types;
  for (const Parameter &parameter : parameters)
    if (!parameter.isConstant)
      types.push_back(getArgumentType(parameter.value));
  llvm::append_range(types, more);
  func::FuncOp function = createFunction(suffix, types);
  KernelBody body;
  body.entry = &function.getBody().front();
  body.addresses = first.addresses;
  builder.setInsertionPointToStart(body.entry);
  unsigned next = 0;
  for (const Parameter &parameter : parameters) {
    Value inner = parameter.isConstant ? builder.clone(*parameter.value.getDefiningOp())->getResult(0)
                                       : Value(body.entry->getArgument(next++));
    if (inner.getType() != parameter.value.getType())
      inner = arith::IndexCastOp::create(builder, loc, parameter.value.getType(), inner);
    body.mapping.map(parameter.value, inner);
  }
  body.addresses.forEachValue([&](Value &value) { value = body.mapping.lookup(value); });
  emit(builder, body);
  func::ReturnOp::create(builder, loc);
  return function;
}

SmallVector<Value> KernelFunctions::getArguments(OpBuilder &builder, KernelUse &use) const {
  SmallVector<Value> arguments;
  for (const Parameter &parameter : collectParameters()) {
    Value value = use.outerValues[parameter.position];
    if (!parameter.isConstant)
      arguments.push_back(value.getType().isIndex() ? castToI64(builder, use.kernel.getLoc(), value) : value);
  }
  return arguments;
}
