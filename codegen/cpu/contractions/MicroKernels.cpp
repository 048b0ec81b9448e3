// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits micro-kernels: per term, a load per panel of b, a broadcast per row of a, and a fused multiply-add for each
// pair.

#include "codegen/cpu/contractions/MicroKernels.h"

#include "codegen/builder/Code.h"
#include "codegen/cpu/contractions/ByteDot.h"
#include "codegen/cpu/contractions/ElementRuns.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
  MicroKernelEmitter(Code &code, const CPUTarget &target, const MicroKernels::Form &form,
                     MicroKernels::Operands operands)
      : code(code), target(target), form(form), operands(operands) {
    for (int64_t first = 0; first < form.columns; first += kPanelColumns)
      panels.push_back(std::min(form.columns - first, kPanelColumns));
  }

  void emit();

private:
  Value atSum(int64_t row, int64_t panel) {
    return code.at(operands.sums, form.arithmetic, row * form.sumStride + panel * kPanelColumns);
  }
  VectorType getSumType(int64_t panel) { return VectorType::get(panels[panel], form.arithmetic); }
  void forEachSum(function_ref<void(int64_t row, int64_t panel)> body) {
    for (int64_t row = 0; row < form.rows; ++row)
      for (int64_t panel = 0; panel < static_cast<int64_t>(panels.size()); ++panel)
        body(row, panel);
  }
  /// The columns of `count` terms of all panels, from those of a row's chain on: for each panel a vector for each term.
  SmallVector<SmallVector<Value>> loadPanels(int64_t row, Value term, int64_t count);
  SmallVector<Value> loadTerms(int64_t panel, Value term, int64_t count);
  SmallVector<Value> spreadToPanels(Value number);
  SmallVector<Value> addTerms(ValueRange sums, Value first, int64_t count);
  SmallVector<Value> addBytes(ValueRange sums, Value first);
  SmallVector<Value> addPairsOfBytes(ValueRange sums, Value end);
  Type getTypeOfA() const { return isa<IntegerType>(form.arithmetic) ? form.bType : form.arithmetic; }
  SmallVector<Value> addPanels(ValueRange sums);
  SmallVector<Value> addIntegers(ValueRange sums);

  Code &code;
  const CPUTarget &target;
  MicroKernels::Form form;
  /// How many columns each panel has.
  SmallVector<int64_t> panels;
  MicroKernels::Operands operands;
  SmallVector<Value> aRows, bPanels;
};

} // namespace

/// The columns of `count` terms of a panel, one vector each.
SmallVector<Value> MicroKernelEmitter::loadTerms(int64_t panel, Value term, int64_t count) {
  Value start = code.at(bPanels[panel], form.bType, code.multiply(term, form.termLength));
  int64_t lanes = panels[panel];
  SmallVector<Value> columns;
  if (!form.bType.isBF16()) {
    Value moved = code.load(VectorType::get(lanes, getMovedType(form.bType)), start);
    columns.push_back(kernels::fromMemory(code, code.getLoc(), moved, form.bType));
  } else {
    Value pairs = code.load(VectorType::get(lanes, code.getI32Type()), start);
    columns.push_back(widenFirst(code, pairs));
    if (count > 1)
      columns.push_back(widenSecond(code, pairs));
  }
  for (Value &column : columns)
    column = code.castFloat(column, form.arithmetic);
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
  if (target.isX86 && kPanelColumns * form.arithmetic.getIntOrFloatBitWidth() == target.vectorBits)
    widest = hideRegister(code, widest);
  SmallVector<Value> factors(panels.size(), widest);
  factors.back() = code.create<LLVM::ShuffleVectorOp>(
      widest, widest, llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(panels.back()))));
  return factors;
}

SmallVector<SmallVector<Value>> MicroKernelEmitter::loadPanels(int64_t row, Value term, int64_t count) {
  SmallVector<SmallVector<Value>> columns;
  for (int64_t panel = 0; panel < static_cast<int64_t>(panels.size()); ++panel)
    columns.push_back(loadTerms(panel, row == 0 ? term : code.add(term, row * form.chain), count));
  return columns;
}

SmallVector<Value> MicroKernelEmitter::addTerms(ValueRange sums, Value first, int64_t count) {
  Type arithmetic = form.arithmetic;
  SmallVector<Value> next(sums);
  SmallVector<SmallVector<Value>> columns;
  for (int64_t row = 0; row < form.rows; ++row)
    if (row == 0 || form.chain != 0)
      llvm::append_range(columns, loadPanels(row, first, count));
  for (int64_t term = 0; term < count; ++term)
    for (int64_t row = 0; row < form.rows; ++row) {
      Value number = code.load(arithmetic, code.at(code.at(aRows[row], arithmetic, first), arithmetic, term));
      ArrayRef<SmallVector<Value>> own = ArrayRef(columns).drop_front(form.chain != 0 ? row * panels.size() : 0);
      for (auto [panel, factor] : llvm::enumerate(spreadToPanels(number))) {
        Value &sum = next[row * panels.size() + panel];
        sum = code.create<math::FmaOp>(factor, own[panel][term], sum);
      }
    }
  return next;
}

/// Adds the products of a group of bytes.
SmallVector<Value> MicroKernelEmitter::addBytes(ValueRange sums, Value first) {
  ByteDot dot(target);
  SmallVector<Value> next(sums);
  SmallVector<SmallVector<Value>> columns;
  for (auto [panel, lanes] : llvm::enumerate(panels)) {
    Value start = code.at(bPanels[panel], form.bType, code.multiply(first, form.termLength));
    columns.push_back(dot.prepare(code, code.load(VectorType::get(lanes, form.arithmetic), start)));
  }
  for (int64_t row = 0; row < form.rows; ++row) {
    Value group = code.at(aRows[row], form.bType, code.multiply(first, dot.getParts()));
    for (int64_t part = 0; part != dot.getParts(); ++part) {
      Value number = code.load(form.arithmetic, code.at(group, form.arithmetic, part));
      for (auto [panel, factor] : llvm::enumerate(spreadToPanels(number))) {
        Value &sum = next[row * panels.size() + panel];
        sum = dot.add(code, sum, factor, columns[panel][part]);
      }
    }
  }
  return next;
}

/// The same of two groups for each two rows, up to `end`.
SmallVector<Value> MicroKernelEmitter::addPairsOfBytes(ValueRange sums, Value end) {
  ByteDot dot(target);
  int64_t step = getInterleavedTerms(form.bType);
  size_t width = panels.size();
  SmallVector<Value> pairs, result;
  for (int64_t row = 0; row < form.rows; row += 2)
    for (size_t panel = 0; panel < width; ++panel)
      pairs.push_back(dot.joinRows(code, sums[row * width + panel], sums[(row + 1) * width + panel]));
  pairs = code.loop(code.constant(0), end, 2 * step, pairs, [&](Value first, ValueRange carried) {
    SmallVector<Value> next(carried), columns;
    for (auto [panel, lanes] : llvm::enumerate(panels)) {
      auto load = [&](Value term) {
        Value start = code.at(bPanels[panel], form.bType, code.multiply(term, form.termLength));
        return code.load(VectorType::get(lanes, form.arithmetic), start);
      };
      columns.push_back(dot.joinTerms(code, load(first), load(code.add(first, step))));
    }
    for (int64_t row = 0; row < form.rows; row += 2) {
      auto load = [&](Value start) {
        return code.load(VectorType::get(2, form.arithmetic), code.at(start, form.bType, first));
      };
      Value a =
          code.create<LLVM::ShuffleVectorOp>(load(aRows[row]), load(aRows[row + 1]), ArrayRef<int32_t>{0, 1, 2, 3});
      for (size_t panel = 0; panel < width; ++panel) {
        Value &sum = next[row / 2 * width + panel];
        sum = dot.addPairs(code, sum, a, columns[panel]);
      }
    }
    return next;
  });
  for (int64_t row = 0; row < form.rows; ++row)
    for (size_t panel = 0; panel < width; ++panel) {
      auto [first, second] = dot.splitRows(code, pairs[row / 2 * width + panel]);
      result.push_back(row % 2 ? second : first);
    }
  return result;
}

SmallVector<Value> MicroKernelEmitter::addIntegers(ValueRange sums) {
  auto add = [&](Value term, ValueRange columns, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (int64_t row = 0; row < form.rows; ++row) {
      Value number = code.load(form.arithmetic, code.at(aRows[row], form.arithmetic, term));
      for (auto [panel, factor] : llvm::enumerate(columns)) {
        Value &sum = next[row * panels.size() + panel];
        sum = code.create<math::FmaOp>(code.spread(number, kPanelColumns), factor, sum);
      }
    }
    return next;
  };
  Block *entry = code.getInsertionBlock();
  return forEachTerm(code, entry, form.integers, operands.integers, panels.size(), operands.terms, sums, add);
}

SmallVector<Value> MicroKernelEmitter::addPanels(ValueRange sums) {
  for (int64_t panel = 0; panel < static_cast<int64_t>(panels.size()); ++panel)
    bPanels.push_back(code.at(operands.b, form.bType, code.multiply(operands.panelStride, panel)));
  int64_t step = getInterleavedTerms(form.bType);
  Value zero = code.constant(0), whole = operands.terms;
  if (isa<IntegerType>(form.arithmetic)) {
    SmallVector<Value> before(sums);
    if (ByteDot(target).takesPairs() && form.rows % 2 == 0) {
      Value groups = code.ceilDivide(whole, code.constant(step));
      Value end = code.multiply(code.divide(groups, 2), 2 * step);
      before = addPairsOfBytes(sums, end);
      zero = end;
    }
    return code.loop(zero, whole, step, before,
                     [&](Value term, ValueRange carried) { return addBytes(carried, term); });
  }
  if (step > 1)
    whole = code.multiply(code.divide(operands.terms, step), step);
  SmallVector<Value> added =
      code.loop(zero, whole, step, sums, [&](Value term, ValueRange carried) { return addTerms(carried, term, step); });
  if (step > 1)
    added = code.choose(
        code.isEqual(whole, operands.terms), ValueRange(added).getTypes(), [&] { return added; },
        [&] { return addTerms(added, whole, 1); });
  return added;
}

void MicroKernelEmitter::emit() {
  for (int64_t row = 0; row < form.rows; ++row)
    aRows.push_back(code.at(operands.a, getTypeOfA(), code.multiply(operands.aStride, row)));
  SmallVector<Value> sums;
  SmallVector<Value> zeros;
  for (int64_t panel = 0; panel < static_cast<int64_t>(panels.size()); ++panel)
    zeros.push_back(code.create<arith::ConstantOp>(code.getZeroAttr(getSumType(panel))));
  forEachSum([&](int64_t row, int64_t panel) {
    sums.push_back(form.startsAtZero ? zeros[panel] : code.load(getSumType(panel), atSum(row, panel)));
  });
  sums = form.integers.group != 0 ? addIntegers(sums) : addPanels(sums);
  forEachSum([&](int64_t row, int64_t panel) { code.store(sums[row * panels.size() + panel], atSum(row, panel)); });
}

SmallVector<Value *> MicroKernels::Operands::getValues() {
  Value *all[] = {&a,
                  &aStride,
                  &b,
                  &panelStride,
                  &terms,
                  &sums,
                  &integers.bytes,
                  &integers.stride,
                  &integers.scales,
                  &integers.seconds,
                  &integers.parameterStride,
                  &integers.present};
  return llvm::filter_to_vector(all, [](Value *value) { return static_cast<bool>(*value); });
}

func::FuncOp MicroKernels::create(OpBuilder &outer, Location loc, StringRef name, const Form &form, Operands operands) {
  SmallVector<Value *> values = operands.getValues();
  auto types = llvm::map_to_vector(values, [](Value *value) { return value->getType(); });
  auto type = FunctionType::get(outer.getContext(), types, {});
  auto function = func::FuncOp::create(loc, name, type);
  function.setPrivate();
  function->setAttr("passthrough", outer.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
  symbols.insert(function);
  Block *entry = function.addEntryBlock();
  Code code(OpBuilder::atBlockBegin(entry), loc);
  for (auto [value, argument] : llvm::zip_equal(values, entry->getArguments()))
    *value = argument;
  MicroKernelEmitter(code, target, form, operands).emit();
  code.create<func::ReturnOp>();
  return function;
}

std::string MicroKernels::Form::getName() const {
  std::string name;
  llvm::raw_string_ostream out(name);
  out << "resid.product_" << rows << "x" << columns << "_of_" << sumStride << "_" << bType;
  if (bType != arithmetic && arithmetic.isF64())
    out << ".f64";
  if (termLength != kPanelColumns)
    out << "_by_" << termLength;
  if (chain != 0)
    out << "_in_chains_of_" << chain;
  if (startsAtZero)
    out << "_from_zero";
  if (integers.group != 0)
    out << integers.getName();
  return name;
}

void MicroKernels::emitCall(Code &code, const Form &form, Operands operands) {
  std::string name = form.getName();
  func::FuncOp &function = functions[name];
  if (!function)
    function = create(code, code.getLoc(), name, form, operands);
  code.create<func::CallOp>(function, llvm::map_to_vector(operands.getValues(), [](Value *value) { return *value; }));
}
