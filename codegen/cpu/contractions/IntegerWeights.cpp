// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits, for each group of terms, the transposition of the columns' bytes, and then the arithmetic from integers to
// floats, term by term.

#include "codegen/cpu/contractions/IntegerWeights.h"

#include "codegen/cpu/contractions/TransposeTile.h"
#include "dialect/WeightPanels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using contraction::KernelLoops;

/// So many bytes of as many columns are transposed among each other.
static constexpr int64_t kPartBytes = kPanelColumns;
/// Memory is fetched into the cache so many bytes of a column ahead.
static constexpr int64_t kBytesAhead = 512;

IntegerForm IntegerForm::of(const CPUTarget &target, const KernelLoops &loops) {
  IntegerForm form{loops.bGroup, loops.hasNibbles, {}, {}};
  if (form.group == 0)
    return form;
  form.scale = loops.operands[loops.getParameter(0)].elementType;
  if (loops.bParameters > 1)
    form.second = loops.operands[loops.getParameter(1)].elementType;
  form.tileBytes = std::gcd(int64_t(target.vectorBits / 8), form.getGroupBytes());
  return form;
}

std::string IntegerForm::getName() const {
  std::string name;
  llvm::raw_string_ostream out(name);
  out << (areNibbles ? ".i4" : ".i8") << "_by_" << group << "_" << scale;
  if (second)
    out << "_" << second;
  return name;
}

IntegerColumns IntegerColumns::ofPanels(Code &code, const KernelLoops &loops, Value panel, Value terms) {
  IntegerColumns columns;
  Value first = code.multiply(panel, kPanelColumns);
  columns.stride = code.divide(terms, code.constant(loops.hasNibbles ? 2 : 1));
  columns.parameterStride = code.divide(terms, code.constant(loops.bGroup));
  columns.bytes = code.at(loops.pointers[KernelLoops::kB], code.getI8Type(), code.multiply(first, columns.stride));
  auto getParameter = [&](int64_t number) {
    unsigned operand = loops.getParameter(number);
    return code.at(loops.pointers[operand], loops.operands[operand].elementType,
                   code.multiply(first, columns.parameterStride));
  };
  columns.scales = getParameter(0);
  if (loops.bParameters > 1)
    columns.seconds = getParameter(1);
  columns.present = code.subtract(loops.n.size.value, first);
  return columns;
}

namespace {

class IntegerReader {
public:
  IntegerReader(Code &code, Block *entry, const IntegerForm &form, const IntegerColumns &columns, int64_t panels)
      : code(code), form(form), columns(columns), panels(panels) {
    Value last = code.subtract(columns.present, 1);
    for (int64_t column = 0; column < panels * kPanelColumns; ++column)
      places.push_back(code.min(column, last));
    tile = code.allocate(entry, code.getI8Type(), panels * form.tileBytes * kPanelColumns);
  }

  SmallVector<Value> run(Value terms, ValueRange first, TermBody body);

private:
  /// What the integers of one panel are scaled with, in the group at hand.
  struct Parameters {
    Value scales, zeros, offsets;
  };

  Value atByte(Value place, Value byte) {
    return code.at(columns.bytes, code.getI8Type(), code.add(code.multiply(place, columns.stride), byte));
  }
  void fetchAhead(Value byte, int64_t step);
  Value gather(int64_t panel, Value array, Type type, Value group);
  Parameters loadParameters(int64_t panel, Value group);
  void transposeTile(Value byte);
  SmallVector<Value> loadTerms(int64_t panel, Value part, int64_t byte);
  SmallVector<Value> addPart(ArrayRef<Parameters> parameters, Value firstByte, Value part, ValueRange first,
                             TermBody body);
  Value scale(const Parameters &parameters, Value numbers);

  Code &code;
  const IntegerForm &form;
  const IntegerColumns &columns;
  int64_t panels;
  /// The columns, each at most the last one that there is.
  SmallVector<Value> places;
  /// Stack memory for the bytes of a tile, the columns of a panel side by side.
  Value tile;
};

} // namespace

/// A line of each column for each that is read, one after the other between the terms: many at once would keep other
/// reads waiting. Each part of a line fetches for as large a part of the columns. At the end of the columns, those that
/// come after these ones are next.
void IntegerReader::fetchAhead(Value byte, int64_t step) {
  constexpr int64_t parts = kLineBytes / kPartBytes;
  int64_t count = panels * kPanelColumns, lines = count / parts, line = step * lines / kPartBytes;
  if (line == (step + 1) * lines / kPartBytes)
    return;
  Value part = code.remainder(code.divide(byte, code.constant(kPartBytes)), code.constant(parts));
  Value place = code.min(code.add(code.multiply(part, lines), line), code.subtract(columns.present, 1));
  Value ahead = code.add(byte, kBytesAhead), isHere = code.compare(arith::CmpIPredicate::slt, ahead, columns.stride);
  code.prefetch(atByte(place, code.select(isHere, ahead, code.add(ahead, code.multiply(columns.stride, count - 1)))));
}

/// One element of each column of a panel, side by side, as f32.
Value IntegerReader::gather(int64_t panel, Value array, Type type, Value group) {
  Value vector = code.create<LLVM::PoisonOp>(VectorType::get(kPanelColumns, type));
  for (int64_t lane = 0; lane < kPanelColumns; ++lane) {
    Value row = code.multiply(places[panel * kPanelColumns + lane], columns.parameterStride);
    Value element = code.load(type, code.at(array, type, code.add(row, group)));
    vector = code.create<LLVM::InsertElementOp>(vector, element, code.constant(lane));
  }
  return isa<FloatType>(type) ? code.castFloat(vector, code.getF32Type()) : code.toFloat(vector, code.getF32Type());
}

IntegerReader::Parameters IntegerReader::loadParameters(int64_t panel, Value group) {
  Parameters parameters;
  parameters.scales = gather(panel, columns.scales, form.scale, group);
  if (!form.second)
    return parameters;
  Value second = gather(panel, columns.seconds, form.second, group);
  if (form.second.isF32())
    parameters.offsets = code.negate(second);
  else
    parameters.zeros = second;
  return parameters;
}

/// In each part of 16 bytes by itself: byte i of part p of all columns is after transposition part p of vector i.
void IntegerReader::transposeTile(Value byte) {
  for (int64_t panel = 0; panel < panels; ++panel) {
    SmallVector<Value> vectors;
    for (Value place : ArrayRef(places).slice(panel * kPanelColumns, kPanelColumns))
      vectors.push_back(code.load(VectorType::get(form.tileBytes, code.getI8Type()), atByte(place, byte)));
    transpose(code, vectors);
    for (auto [i, vector] : llvm::enumerate(vectors))
      code.store(vector, code.at(tile, code.getI8Type(), (panel * kPanelColumns + int64_t(i)) * form.tileBytes));
  }
}

/// The terms that byte `byte` of a part of the tile has in each column: one, or two.
SmallVector<Value> IntegerReader::loadTerms(int64_t panel, Value part, int64_t byte) {
  Value start = code.at(part, code.getI8Type(), (panel * kPanelColumns + byte) * form.tileBytes);
  Value bytes = code.load(VectorType::get(kPanelColumns, code.getI8Type()), start);
  Value wide = code.extendSign(bytes, code.getI32Type());
  if (!form.areNibbles)
    return {wide};
  return {code.shiftRightSigned(code.shiftLeft(wide, 28), 28), code.shiftRightSigned(wide, 4)};
}

Value IntegerReader::scale(const Parameters &parameters, Value numbers) {
  Value number = code.toFloat(numbers, code.getF32Type());
  if (parameters.offsets)
    return code.fma(parameters.scales, number, parameters.offsets);
  // The difference of small integers is exact.
  return code.multiply(parameters.scales, parameters.zeros ? code.subtract(number, parameters.zeros) : number);
}

/// The terms of a part of the tile, which lies at `part` and begins with byte `firstByte` of each column.
SmallVector<Value> IntegerReader::addPart(ArrayRef<Parameters> parameters, Value firstByte, Value part,
                                          ValueRange first, TermBody body) {
  int64_t byteTerms = form.areNibbles ? 2 : 1;
  Value term = code.multiply(firstByte, byteTerms);
  SmallVector<Value> next(first);
  for (int64_t byte = 0; byte < kPartBytes; ++byte) {
    SmallVector<SmallVector<Value>> numbers;
    for (int64_t panel = 0; panel < panels; ++panel)
      numbers.push_back(loadTerms(panel, part, byte));
    fetchAhead(firstByte, byte);
    for (int64_t half = 0; half < byteTerms; ++half) {
      SmallVector<Value> vectors;
      for (int64_t panel = 0; panel < panels; ++panel)
        vectors.push_back(scale(parameters[panel], numbers[panel][half]));
      next = body(code.add(term, byte * byteTerms + half), vectors, next);
    }
  }
  return next;
}

SmallVector<Value> IntegerReader::run(Value terms, ValueRange first, TermBody body) {
  Value groups = code.divide(terms, code.constant(form.group));
  return code.loop(0, groups, 1, first, [&](Value group, ValueRange ofGroup) {
    SmallVector<Parameters> parameters;
    for (int64_t panel = 0; panel < panels; ++panel)
      parameters.push_back(loadParameters(panel, group));
    Value start = code.multiply(group, form.getGroupBytes());
    return code.rolledLoop(0, form.getGroupBytes(), form.tileBytes, ofGroup, [&](Value offset, ValueRange ofTile) {
      Value byte = code.add(start, offset);
      transposeTile(byte);
      return code.rolledLoop(0, form.tileBytes, kPartBytes, ofTile, [&](Value part, ValueRange ofPart) {
        return addPart(parameters, code.add(byte, part), code.at(tile, code.getI8Type(), part), ofPart, body);
      });
    });
  });
}

SmallVector<Value> cpu::forEachTerm(Code &code, Block *entry, const IntegerForm &form, const IntegerColumns &columns,
                                    int64_t panels, Value terms, ValueRange first, TermBody body) {
  return IntegerReader(code, entry, form, columns, panels).run(terms, first, body);
}
