// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/builder/Code.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;

Value Code::constant(Type type, Operand number) {
  Type element = getElementTypeOrSelf(type);
  assert((isa<FloatType>(element) || number.real == double(number.whole)) && "expected a whole number");
  TypedAttr value =
      isa<FloatType>(element) ? TypedAttr(getFloatAttr(element, number.real)) : getIntegerAttr(element, number.whole);
  if (auto shaped = dyn_cast<ShapedType>(type))
    value = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(value));
  return create<arith::ConstantOp>(value);
}

std::pair<Value, Value> Code::match(Operand a, Operand b) {
  assert((a.value || b.value) && "expected a value, which says the type of a number");
  if (!a.value)
    a.value = constant(b.value.getType(), a);
  return {a.value, b.value ? b.value : constant(a.value.getType(), b)};
}

Value Code::fma(Operand a, Operand b, Operand c) {
  auto [x, y] = match(a, b);
  if (!isFloat(x))
    return add(multiply(x, y), c);
  return create<math::FmaOp>(x, y, match(x, c).second);
}

Type Code::withShape(Value like, Type element) {
  auto shaped = dyn_cast<ShapedType>(like.getType());
  return shaped ? Type(shaped.clone(element)) : element;
}

Value Code::castInteger(Value a, Type element) {
  Type type = withShape(a, element);
  if (getWidth(a) < element.getIntOrFloatBitWidth())
    return create<arith::ExtUIOp>(type, a);
  return create<arith::TruncIOp>(type, a);
}

SmallVector<Value> Code::delinearize(Value number, ArrayRef<Value> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 1;) {
    indices[i] = remainder(number, sizes[i]);
    number = divide(number, sizes[i]);
  }
  if (!indices.empty())
    indices.front() = number;
  return indices;
}

Value Code::castFloat(Value a, Type element) {
  if (getElementTypeOrSelf(a) == element)
    return a;
  Type type = withShape(a, element);
  if (getWidth(a) < element.getIntOrFloatBitWidth())
    return create<arith::ExtFOp>(type, a);
  return create<arith::TruncFOp>(type, a);
}

Value Code::divideForInteger(Value a, Value b) {
  auto quotient = create<arith::DivFOp>(a, b);
  quotient->setDiscardableAttr(kForIntegerAttribute, getUnitAttr());
  return quotient;
}

Value Code::castNumber(Value a, Type element) {
  if (isFloat(a))
    return castFloat(a, element);
  return getElementTypeOrSelf(a) == element ? a : extendSign(a, element);
}

Value Code::compare(arith::CmpFPredicate predicate, Operand a, Operand b) {
  auto [x, y] = match(a, b);
  return create<arith::CmpFOp>(predicate, x, y);
}

Value Code::compare(arith::CmpIPredicate predicate, Operand a, Operand b) {
  auto [x, y] = match(a, b);
  return createOrFold<arith::CmpIOp>(predicate, x, y);
}

Value Code::isEqual(Operand a, Operand b) {
  bool areFloats = isFloat(a.value ? a.value : b.value);
  return areFloats ? compare(arith::CmpFPredicate::OEQ, a, b) : compare(arith::CmpIPredicate::eq, a, b);
}

Value Code::select(Value condition, Operand a, Operand b) {
  auto [x, y] = match(a, b);
  return isFloat(x) ? Value(create<arith::SelectOp>(condition, x, y)) : createOrFold<arith::SelectOp>(condition, x, y);
}

Value Code::spread(Value a, Type type) { return a.getType() == type ? a : Value(create<vector::BroadcastOp>(type, a)); }

static void setCopies(scf::ForOp loop, int64_t count) {
  if (count == 0)
    return;
  OpBuilder builder(loop);
  BoolAttr isOff = count == 1 ? builder.getBoolAttr(true) : nullptr;
  IntegerAttr times = count == 1 ? nullptr : builder.getI32IntegerAttr(int32_t(count));
  auto unroll = LLVM::LoopUnrollAttr::get(builder.getContext(), isOff, times, {}, {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(builder.getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {},
                                                  {}, {}, {}, {});
  loop->setDiscardableAttr(LLVM::LoopAnnotationAttr::name, annotation);
}

scf::ForOp Code::loop(Operand low, Operand high, Operand step, function_ref<void(Value)> body, int64_t copies) {
  Value from = asWhole(low), to = asWhole(high);
  auto loop = create<scf::ForOp>(from, to, asWhole(step));
  setCopies(loop, copies);
  InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
  return loop;
}

SmallVector<Value> Code::loop(Operand low, Operand high, Operand step, ValueRange first, CarryingBody body,
                              int64_t copies) {
  Value from = asWhole(low), to = asWhole(high);
  auto loop = create<scf::ForOp>(from, to, asWhole(step), first);
  setCopies(loop, copies);
  InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!first.empty())
    create<scf::YieldOp>(next);
  return SmallVector<Value>(loop.getResults());
}

void Code::choose(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  auto branch = create<scf::IfOp>(condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

SmallVector<Value> Code::choose(Value condition, TypeRange types, function_ref<SmallVector<Value>()> then,
                                function_ref<SmallVector<Value>()> otherwise) {
  if (types.empty()) {
    choose(
        condition, [&] { then(); }, [&] { otherwise(); });
    return {};
  }
  auto branch = create<scf::IfOp>(types, condition, /*withElseRegion=*/true);
  InsertionGuard guard(*this);
  setInsertionPointToEnd(&branch.getThenRegion().front());
  create<scf::YieldOp>(then());
  setInsertionPointToEnd(&branch.getElseRegion().front());
  create<scf::YieldOp>(otherwise());
  return SmallVector<Value>(branch.getResults());
}

Value Code::at(Value pointer, Type element, Value index) {
  return create<LLVM::GEPOp>(pointer.getType(), element, pointer, ValueRange(index));
}

Value Code::at(Value pointer, Type element, int64_t index) {
  if (index == 0)
    return pointer;
  return create<LLVM::GEPOp>(pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

Value Code::toInteger(Value pointer) { return create<LLVM::PtrToIntOp>(getI64Type(), pointer); }

Value Code::load(Type type, Value pointer) { return create<LLVM::LoadOp>(type, pointer, /*alignment=*/1); }

void Code::store(Value value, Value pointer) { create<LLVM::StoreOp>(value, pointer, /*alignment=*/1); }

void Code::prefetch(Value pointer) { create<LLVM::Prefetch>(pointer, /*rw=*/0, /*hint=*/2, /*cache=*/1); }
void Code::prefetchForStore(Value pointer) { create<LLVM::Prefetch>(pointer, /*rw=*/1, /*hint=*/3, /*cache=*/1); }

Value Code::allocate(Block *entry, Type element, int64_t count) {
  InsertionGuard guard(*this);
  setInsertionPointToStart(entry);
  return create<LLVM::AllocaOp>(getType<LLVM::LLVMPointerType>(), element, constant(count), /*alignment=*/64);
}
