// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits micro-kernels: per term, a load per panel of b, a broadcast per row of a, and a fused multiply-add for each
// pair.

#include "codegen/cpu/contractions/MicroKernels.h"

#include "codegen/builder/Code.h"
#include "codegen/cpu/contractions/ElementRuns.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

// A shift, or a mask: the first of a pair is in the low half, and f32 has the bits of bf16 in its high one.

static Value splat(Code &code, Value pairs, uint32_t bits) {
  auto type = cast<VectorType>(pairs.getType());
  return code.create<arith::ConstantOp>(DenseElementsAttr::get(type, APInt(32, static_cast<uint64_t>(bits))));
}

static Value asFloats(Code &code, Value bits) {
  auto type = cast<VectorType>(bits.getType()).clone(code.getF32Type());
  return code.create<arith::BitcastOp>(type, bits);
}

Value cpu::widenFirst(Code &code, Value pairs) {
  return asFloats(code, code.create<arith::ShLIOp>(pairs, splat(code, pairs, 16)));
}

Value cpu::widenSecond(Code &code, Value pairs) {
  return asFloats(code, code.create<arith::AndIOp>(pairs, splat(code, pairs, 0xffff0000)));
}

namespace {

/// The body of one micro-kernel.
class MicroKernelEmitter {
public:
  MicroKernelEmitter(Code &code, const CPUTarget &target, FloatType arithmetic, Type bType, int64_t rows,
                     int64_t columns, int64_t sumStride, bool startsAtZero, MicroKernels::Operands operands)
      : code(code), target(target), arithmetic(arithmetic), bType(bType), rows(rows), sumStride(sumStride),
        startsAtZero(startsAtZero), operands(operands) {
    for (int64_t first = 0; first < columns; first += kPanelColumns)
      panels.push_back(std::min(columns - first, kPanelColumns));
  }

  void emit();

private:
  Value atSum(int64_t row, int64_t panel) {
    return code.at(operands.sums, arithmetic, row * sumStride + panel * kPanelColumns);
  }
  VectorType getSumType(int64_t panel) { return VectorType::get(panels[panel], arithmetic); }
  void forEachSum(function_ref<void(int64_t row, int64_t panel)> body) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t panel = 0; panel < static_cast<int64_t>(panels.size()); ++panel)
        body(row, panel);
  }
  SmallVector<Value> loadTerms(int64_t panel, Value term, int64_t count);
  SmallVector<Value> spreadToPanels(Value number);
  SmallVector<Value> addTerms(ValueRange sums, Value first, int64_t count);

  Code &code;
  const CPUTarget &target;
  FloatType arithmetic;
  Type bType;
  int64_t rows, sumStride;
  /// How many columns each panel has.
  SmallVector<int64_t> panels;
  bool startsAtZero;
  MicroKernels::Operands operands;
  SmallVector<Value> aRows, bPanels;
};

} // namespace

/// The columns of `count` terms of a panel, one vector each.
SmallVector<Value> MicroKernelEmitter::loadTerms(int64_t panel, Value term, int64_t count) {
  Value start = code.at(bPanels[panel], bType, code.multiply(term, kPanelColumns));
  int64_t lanes = panels[panel];
  SmallVector<Value> columns;
  if (!bType.isBF16()) {
    Value moved = code.load(VectorType::get(lanes, getMovedType(bType)), start);
    columns.push_back(kernels::fromMemory(code, code.getLoc(), moved, bType));
  } else {
    Value pairs = code.load(VectorType::get(lanes, code.getI32Type()), start);
    columns.push_back(widenFirst(code, pairs));
    if (count > 1)
      columns.push_back(widenSecond(code, pairs));
  }
  for (Value &column : columns)
    column = code.castFloat(column, arithmetic);
  return columns;
}

/// A register that LLVM knows nothing about. It would fill the half of one that it knows to hold a number throughout
/// by a second instruction, though that half is there.
static Value hideRegister(Code &code, Value vector) {
  return LLVM::InlineAsmOp::create(code, code.getLoc(), vector.getType(), vector, /*asm_string=*/"", "=v,0",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
                                   /*operand_attrs=*/nullptr)
      ->getResult(0);
}

/// A number in all columns of each panel. That of half a panel is the first half of a whole one's.
SmallVector<Value> MicroKernelEmitter::spreadToPanels(Value number) {
  Value widest = code.spread(number, panels.front());
  if (panels.back() == panels.front())
    return SmallVector<Value>(panels.size(), widest);
  if (target.isX86 && kPanelColumns * arithmetic.getIntOrFloatBitWidth() == target.vectorBits)
    widest = hideRegister(code, widest);
  SmallVector<Value> factors(panels.size(), widest);
  factors.back() = code.create<LLVM::ShuffleVectorOp>(
      widest, widest, llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(panels.back()))));
  return factors;
}

SmallVector<Value> MicroKernelEmitter::addTerms(ValueRange sums, Value first, int64_t count) {
  SmallVector<Value> next(sums);
  SmallVector<SmallVector<Value>> columns;
  for (int64_t panel = 0; panel < static_cast<int64_t>(panels.size()); ++panel)
    columns.push_back(loadTerms(panel, first, count));
  for (int64_t term = 0; term < count; ++term)
    for (int64_t row = 0; row < rows; ++row) {
      Value number = code.load(arithmetic, code.at(code.at(aRows[row], arithmetic, first), arithmetic, term));
      for (auto [panel, factor] : llvm::enumerate(spreadToPanels(number))) {
        Value &sum = next[row * panels.size() + panel];
        sum = code.create<math::FmaOp>(factor, columns[panel][term], sum);
      }
    }
  return next;
}

void MicroKernelEmitter::emit() {
  for (int64_t row = 0; row < rows; ++row)
    aRows.push_back(code.at(operands.a, arithmetic, code.multiply(operands.aStride, row)));
  for (int64_t panel = 0; panel < static_cast<int64_t>(panels.size()); ++panel)
    bPanels.push_back(code.at(operands.b, bType, code.multiply(operands.panelStride, panel)));
  SmallVector<Value> sums;
  SmallVector<Value> zeros;
  for (int64_t panel = 0; panel < static_cast<int64_t>(panels.size()); ++panel)
    zeros.push_back(code.create<arith::ConstantOp>(code.getZeroAttr(getSumType(panel))));
  forEachSum([&](int64_t row, int64_t panel) {
    sums.push_back(startsAtZero ? zeros[panel] : code.load(getSumType(panel), atSum(row, panel)));
  });
  int64_t step = getInterleavedTerms(bType);
  Value zero = code.constant(0), whole = operands.terms;
  if (step > 1)
    whole = code.multiply(code.divide(operands.terms, step), step);
  sums =
      code.loop(zero, whole, step, sums, [&](Value term, ValueRange carried) { return addTerms(carried, term, step); });
  if (step > 1)
    sums = code.choose(
        code.isEqual(whole, operands.terms), ValueRange(sums).getTypes(), [&] { return sums; },
        [&] { return addTerms(sums, whole, 1); });
  forEachSum([&](int64_t row, int64_t panel) { code.store(sums[row * panels.size() + panel], atSum(row, panel)); });
}

func::FuncOp MicroKernels::create(OpBuilder &outer, Location loc, StringRef name, FloatType arithmetic, Type bType,
                                  int64_t rows, int64_t columns, int64_t sumStride, bool startsAtZero) {
  MLIRContext *context = outer.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), number = outer.getI64Type();
  auto type = FunctionType::get(context, {pointer, number, pointer, number, number, pointer}, {});
  auto function = func::FuncOp::create(loc, name, type);
  function.setPrivate();
  function->setAttr("passthrough", outer.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
  symbols.insert(function);
  Block *entry = function.addEntryBlock();
  Code code(OpBuilder::atBlockBegin(entry), loc);
  MicroKernels::Operands operands{entry->getArgument(0), entry->getArgument(1), entry->getArgument(2),
                                  entry->getArgument(3), entry->getArgument(4), entry->getArgument(5)};
  MicroKernelEmitter(code, target, arithmetic, bType, rows, columns, sumStride, startsAtZero, operands).emit();
  code.create<func::ReturnOp>();
  return function;
}

void MicroKernels::emitCall(Code &code, FloatType arithmetic, Type bType, int64_t rows, int64_t columns,
                            int64_t sumStride, const Operands &operands, bool startsAtZero) {
  std::string types;
  llvm::raw_string_ostream(types) << bType << (bType == arithmetic ? "" : arithmetic.isF64() ? ".f64" : "");
  std::string name = llvm::formatv("resid.product_{0}x{1}_of_{2}_{3}{4}", rows, columns, sumStride, types,
                                   startsAtZero ? "_from_zero" : "");
  func::FuncOp &function = functions[name];
  if (!function)
    function = create(code, code.getLoc(), name, arithmetic, bType, rows, columns, sumStride, startsAtZero);
  code.create<func::CallOp>(function, ValueRange{operands.a, operands.aStride, operands.b, operands.panelStride,
                                                 operands.terms, operands.sums});
}
