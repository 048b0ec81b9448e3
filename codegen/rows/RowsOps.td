// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows dialect: what one kernel does for each row, before anything is said about a target. Internal to codegen; the
// CPU and the GPU emitters start from the same rows.kernel.

#ifndef RESID_CODEGEN_ROWS_OPS
#define RESID_CODEGEN_ROWS_OPS

include "codegen/kernels/KernelOpInterface.td"
include "codegen/rows/StatisticsInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rows_Dialect : Dialect {
  let name = "rows";
  let cppNamespace = "::mlir::resid::rows";
  let summary = "row programs: what one kernel does for each row";
  let useDefaultTypePrinterParser = 1;
}

class Rows_Op<string mnemonic, list<Trait> traits = []> : Op<Rows_Dialect, mnemonic, traits>;

def Rows_Float : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def Rows_Tensor : RankedTensorOf<[F16, BF16, F32, F64]>;

def Rows_RowType : TypeDef<Rows_Dialect, "Row"> {
  let mnemonic = "row";
  let summary = "one operand of a kernel as a single row sees it";
  let description = [{
    Either the elements along the columns (the operand's map uses the column dimensions), or one element for the whole
    row (it does not). The element type is the storage type.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

//===------------------------------------------- on whole tensors -------------------------------------------------===//

def Rows_LayerStatisticsOp : Rows_Op<"layer_statistics", [Pure, AllTypesMatch<["scale", "k", "e", "rstd"]>,
    DeclareOpInterfaceMethods<Rows_StatisticsOpInterface, ["getUsualPasses"]>]> {
  let summary = "row statistics of a layer norm, in the fixed order of sums";
  let description = [{
    For x of shape R×C (C: the last `norm_rank` dimensions, flattened, n elements) the four results of shape R are, in
    the arithmetic type (f32, or f64 for f64):
    scale (1, or the power of two that brings max|x| into [1,2) where the row is finite and k or q is not, or epsilon is 0
    and q < 2⁻¹⁰⁰; the other results are then those of x·scale and epsilon·scale², or the smallest normal number where
    epsilon > 0 and epsilon·scale² would be 0), k = S(x)/n, e = S(x-k)/n,
    rstd = 1/sqrt(var+epsilon). With d = x-k and q = S(d²)/n: var = fma(-e,e,q) where q is finite and e² ≤ q/4, else
    S((d-e)²)/n. So x̂ = ((x·scale - k) - e)·rstd.
  }];
  let arguments = (ins Rows_Tensor:$x, F64Attr:$epsilon, I64Attr:$norm_rank);
  let hasVerifier = 1;
  let results = (outs Rows_Tensor:$scale, Rows_Tensor:$k, Rows_Tensor:$e, Rows_Tensor:$rstd);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($scale)";
}

def Rows_RMSStatisticsOp : Rows_Op<"rms_statistics", [Pure, AllTypesMatch<["scale", "rstd"]>,
    DeclareOpInterfaceMethods<Rows_StatisticsOpInterface>]> {
  let summary = "row statistics of an RMS norm, in the fixed order of sums";
  let description = [{
    q = S(x²)/n, rstd = 1/sqrt(q+epsilon); scale as for layer_statistics (q takes the place of k and q).
    x̂ = (x·scale)·rstd. With `length` they are those of an L2 norm: q = S(x²), rstd = 1/max(sqrt(q), epsilon·scale),
    and a scale of its own takes a row whose q is small beside an epsilon below 2^-50, too.
  }];
  let arguments = (ins Rows_Tensor:$x, F64Attr:$epsilon, I64Attr:$norm_rank, UnitAttr:$length);
  let hasVerifier = 1;
  let results = (outs Rows_Tensor:$scale, Rows_Tensor:$rstd);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($scale)";
}

def Rows_StreamStatisticsOp : Rows_Op<"stream_statistics", [Pure, AllTypesMatch<["scale", "rstd"]>,
    DeclareOpInterfaceMethods<Rows_StatisticsOpInterface>]> {
  let summary = "row statistics of an RMS norm over several streams";
  let description = [{
    For `streams` of one shape R×C, of n elements a row together: t = x_0², then t = fma(x_i, x_i, t) for the others in
    order, column by column; q = S(t)/n; rstd = 1/sqrt(q+epsilon). Scale as for rms_statistics, by the largest |x| of all
    streams. The results, of shape R, are in f32, or in f64, which they are for streams of f64.
  }];
  let arguments = (ins Variadic<Rows_Tensor>:$streams, F64Attr:$epsilon, I64Attr:$norm_rank);
  let hasVerifier = 1;
  let results = (outs RankedTensorOf<[F32, F64]>:$scale, RankedTensorOf<[F32, F64]>:$rstd);
  let assemblyFormat = "$streams attr-dict `:` type($streams) `->` type($scale)";
}

def Rows_RowMeansOp : Rows_Op<"row_means", [Pure, DeclareOpInterfaceMethods<Rows_StatisticsOpInterface>]> {
  let summary = "the mean of each row of one or several tensors, in the fixed order of sums";
  let description = [{
    For tensors of one shape R×C (C: the last `norm_rank` dimensions, flattened, n elements), already in the arithmetic
    type, result i of shape R is S(tensor i)/n.
  }];
  let arguments = (ins Variadic<RankedTensorOf<[F32, F64]>>:$tensors, I64Attr:$norm_rank);
  let results = (outs Variadic<RankedTensorOf<[F32, F64]>>:$means);
  let hasVerifier = 1;
  let assemblyFormat = "$tensors attr-dict `:` functional-type($tensors, $means)";
}

def Rows_SoftmaxStatisticsOp : Rows_Op<"softmax_statistics", [Pure, SameTypeOperands,
    DeclareOpInterfaceMethods<Rows_StatisticsOpInterface, ["getUsualPasses"]>]> {
  let summary = "the largest element of each row, the sum of its exponentials, and other sums";
  let description = [{
    For x and `terms` of one shape R×C (C: the last `norm_rank` dimensions, flattened), in the arithmetic type, the
    results of shape R are max (NaN if an element is; -infinity for no columns), sum = S(exp(x - max)), and, where there
    are terms, picked = S(terms).
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$x, Optional<RankedTensorOf<[F32, F64]>>:$terms, I64Attr:$norm_rank);
  let hasVerifier = 1;
  let results = (outs Rows_Tensor:$max, Rows_Tensor:$sum, Optional<Rows_Tensor>:$picked);
  let assemblyFormat = "$x (`,` $terms^)? attr-dict `:` functional-type(operands, results)";
}

def Rows_RowMagnitudesOp : Rows_Op<"row_magnitudes", [Pure, DeclareOpInterfaceMethods<Rows_StatisticsOpInterface>]> {
  let summary = "the largest magnitude of each row";
  let description = [{
    For x of shape R×C (C: the last `norm_rank` dimensions, flattened) the result of shape R is max|x|, in the arithmetic
    type: NaN if an element is, and 0 for no columns.
  }];
  let arguments = (ins Rows_Tensor:$x, I64Attr:$norm_rank);
  let results = (outs RankedTensorOf<[F32, F64]>:$largest);
  let hasVerifier = 1;
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($largest)";
}

def Rows_JoinStreamsOp : Rows_Op<"join_streams", [Pure, DestinationStyleOpInterface]> {
  let summary = "several tensors as the streams of one";
  let description = [{
    Stream j is result[…, j, :]; `init` lends its memory. A stream that was made in its part of `init`, a
    tensor.extract_slice of it, stays where it is; others are copied.
  }];
  let arguments = (ins Variadic<Rows_Tensor>:$streams, Rows_Tensor:$init);
  let results = (outs Rows_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$streams `:` type($streams) `outs` `(` $init `:` type($init) `)` attr-dict `->` type($result)";
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def Rows_ColumnNumbersOp : Rows_Op<"column_numbers", [Pure]> {
  let summary = "the number of each column";
  let description = [{
    Element j is j modulo 2^32. `size` is the size where it is dynamic. Never a buffer: every kernel that uses the numbers
    makes them anew.
  }];
  let arguments = (ins Optional<Index>:$size);
  let results = (outs 1DTensorOf<[I32]>:$result);
  let hasVerifier = 1;
  let assemblyFormat = "(`size` `(` $size^ `)`)? attr-dict `:` type($result)";
}

def Rows_RowSumsOp : Rows_Op<"row_sums", [Pure, DeclareOpInterfaceMethods<Rows_StatisticsOpInterface>]> {
  let summary = "the sum of each row of one or several tensors, in the fixed order of sums";
  let description = [{
    As row_means, without the division: result i is S(tensor i).
  }];
  let arguments = (ins Variadic<RankedTensorOf<[F32, F64]>>:$tensors, I64Attr:$norm_rank);
  let results = (outs Variadic<RankedTensorOf<[F32, F64]>>:$sums);
  let hasVerifier = 1;
  let assemblyFormat = "$tensors attr-dict `:` functional-type($tensors, $sums)";
}

def Rows_RandomHalvesOp : Rows_Op<"random_halves", [Pure, AttrSizedOperandSegments]> {
  let summary = "the 16-bit random numbers of a dropout site, one per element";
  let description = [{
    Element (row, col), rows flattened, is half col mod 8 (low half of a word first) of
    Philox4x32-10(key = seed, counter = (col div 8 + origin_call, row + origin_row, site, step)), in [0, 65536). `site`
    already holds the site's origin. With an extent, (row div extent_local)·extent_global + row mod extent_local stands
    for row. `dims` are the sizes of the dynamic dimensions of the result, in order. Never a buffer: every kernel that
    uses the numbers makes them anew.
  }];
  let arguments = (ins I64:$seed, I64:$step, I64:$origin_row, I64:$site, Optional<I64>:$origin_call,
                       Optional<I64>:$extent_local, Optional<I64>:$extent_global, Variadic<Index>:$dims);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `seed` $seed `step` $step `origin_row` $origin_row `site` $site (`origin_call` $origin_call^)?
    (`extent` $extent_local^ $extent_global)? `dims` `(` $dims `)` attr-dict `:` type($result)
  }];
}

def Rows_RequireOp : Rows_Op<"require"> {
  let summary = "a run-time condition of the function: where it is false, the call answers the status";
  let description = [{
    Execution goes on (memory stays safe), but the function returns `status` (a resid_status, the first that failed).
    `text` says what is wrong; `{0}` in it stands for `value`, or for "out of range" where that is not known any more.
    What follows from scalar arguments and sizes alone is checked by the function's entry, before anything is written.
  }];
  let arguments = (ins I1:$condition, I32Attr:$status, DefaultValuedStrAttr<StrAttr, "">:$text, Optional<I64>:$value);
  let assemblyFormat = "$condition `status` $status (`says` $text^ (`of` $value^)?)? attr-dict";
}

//===------------------------------------------- one kernel -------------------------------------------------------===//

def Rows_KernelOp : Rows_Op<"kernel", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<KernelOpInterface, ["computeIndexing", "mayOverwrite", "readsInit"]>,
    SingleBlockImplicitTerminator<"::mlir::resid::rows::YieldOp">, RecursiveMemoryEffects]> {
  let summary = "one row program over all rows";
  let description = [{
    `row_dims` and `column_dims` are the sizes of the row and column dimensions. Each operand in `inputs` and `inits`
    (tensors, then memrefs after bufferization) has a map in `indexing_maps` from (row dims…, column dims…) to its own
    dimensions: every result is a row dimension, a column dimension, or the constant 0 (a broadcast static 1); the column
    dimensions appear all, last and in order, or not at all. Results are the inits' new values (none on memrefs).

    The last result of an input's map may be a *move* where there is one column dimension, of a constant size: an
    expression of that dimension, which says at which column the input is read for the column at hand. Partners of pairs
    are read so, and tables with fewer columns (ColumnMoves.h).

    The body runs once per row. Its block arguments are the linear row index (index) and one !rows.row per operand,
    inputs first. Scalars from above may be used. Rows are independent of each other: an init's map uses every row
    dimension. Inside, per-row scalar code (arith, math, scf.if) surrounds rows.phase ops, which run over the columns.

    An init whose map uses the columns and no row dimension is a sum down the rows. One rows.accumulate, in a phase that
    every row goes through, gives its terms, and nothing else touches it. The order of the sum hangs on the number of
    rows alone (SumOrder.h); the init's old elements are added last, in f64, and the result is rounded once. Without rows
    they stay as they are. `scratch` is the memory for such sums, which a kernel on buffers has (kernels/AllocateScratch.cpp).

    The row of an init holds nothing until it is stored to; a row that is stored to in one phase may be loaded in later
    ones. An init's buffer may be exactly an input's (same type, without a move), so a store to an init in a phase is
    followed by no phase that loads an input of that type along the columns; within a phase a column is loaded before it
    is stored.
  }];
  let arguments = (ins Variadic<Index>:$row_dims, Variadic<Index>:$column_dims, Variadic<AnyShaped>:$inputs,
                       Variadic<AnyShaped>:$inits, Optional<MemRefRankOf<[F32], [2]>>:$scratch,
                       AffineMapArrayAttr:$indexing_maps);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$rowDims,
                                 "::mlir::ValueRange":$columnDims, "::mlir::ValueRange":$inputs,
                                 "::mlir::ValueRange":$inits, "::mlir::ArrayAttr":$indexingMaps), [{
    build($_builder, $_state, results, rowDims, columnDims, inputs, inits, /*scratch=*/::mlir::Value(), indexingMaps);
  }]>];
  let assemblyFormat = [{
    `rows` `(` $row_dims `)` `columns` `(` $column_dims `)`
    `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` $inits `:` type($inits) `)`
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    attr-dict-with-keyword (`->` type($results)^)? $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// The body's argument that stands for operand `i` of inputs followed by inits.
    ::mlir::BlockArgument getRowArgument(unsigned i) { return getBody().getArgument(1 + i); }
    /// The map of operand `i` of inputs followed by inits.
    ::mlir::AffineMap getIndexingMap(unsigned i) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getIndexingMaps()[i]).getValue();
    }
    /// The column at which operand `i` is read, as an expression of the kernel's only column; null where it is that
    /// column itself.
    ::mlir::AffineExpr getMove(unsigned i);
    /// Whether operand `i` has one element per column, and not one for the whole row.
    bool isAlongColumns(unsigned i);
    /// Whether operand `i` is an init that sums down the rows; and whether any is.
    bool isAccumulated(unsigned i);
    bool hasAccumulated();
  }];
}

def Rows_Sum : I32EnumAttrCase<"Sum", 0, "sum">;
def Rows_SumOfSquares : I32EnumAttrCase<"SumOfSquares", 1, "sum_of_squares">;
// Of magnitudes (math.absf, so NaNs have no sign): NaN if there is one, and with zeros of either sign the sign of the
// result is not said.
def Rows_Max : I32EnumAttrCase<"Max", 2, "max">;
// Of any values: NaN if there is one; +0 stands above -0.
def Rows_SignedMax : I32EnumAttrCase<"SignedMax", 3, "signed_max">;
def Rows_ReductionKind : I32EnumAttr<"ReductionKind", "how a phase reduces a value along the row",
    [Rows_Sum, Rows_SumOfSquares, Rows_Max, Rows_SignedMax]> {
  let cppNamespace = "::mlir::resid::rows";
}
def Rows_ReductionKindArray : TypedArrayAttrBase<Rows_ReductionKind, "kinds of reductions">;

// Printed as a list of keywords, `[sum, sum_of_squares]`.
def Rows_PhaseOp : Rows_Op<"phase", [SingleBlockImplicitTerminator<"::mlir::resid::rows::YieldOp">,
    RecursiveMemoryEffects]> {
  let summary = "one pass over the columns of the row";
  let description = [{
    The body runs once per (flattened) column; its argument is the column. It yields one value per reduction; results are
    the reduced values: `sum` S(v), `sum_of_squares` S(v²) with v² added by one fused multiply-add, both in the fixed
    order of sums (64 lanes by column mod 64; lanes start at +0; after every 1,024 columns and at the end the lanes are
    added to a second set of 64; then lane l += lane l+32, l+16, 8, 4, 2, 1); `max` the largest v, NaN if any is
    (v ≥ 0; 0 for no columns); `signed_max` the same of values of any sign (-infinity for no columns).
    Columns are independent of each other: column j stores to element j of each row only, and loads that one, or of an
    input the one that its move leads to. Loads of several columns may happen before their stores.
  }];
  let arguments = (ins Rows_ReductionKindArray:$kinds);
  let results = (outs Variadic<Rows_Float>:$reduced);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "custom<ReductionKinds>($kinds) attr-dict-with-keyword (`:` type($reduced)^)? $body";
  let extraClassDeclaration = [{
    ::mlir::resid::rows::ReductionKind getKind(unsigned result) {
      return ::llvm::cast<::mlir::resid::rows::ReductionKindAttr>(getKinds()[result]).getValue();
    }
  }];
}

def Rows_LoadOp : Rows_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads the element of a row at a column, or its only element";
  let arguments = (ins Rows_RowType:$row, Optional<Index>:$column);
  let results = (outs AnyType:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$row (`[` $column^ `]`)? attr-dict `:` type($row) `->` type($result)";
  let extraClassDeclaration = [{
    /// The move of the operand whose row is read (KernelOp::getMove), if any.
    ::mlir::AffineExpr getMove();
  }];
}

def Rows_StoreOp : Rows_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes the element of a row at a column, or its only element";
  let arguments = (ins AnyType:$value, Rows_RowType:$row, Optional<Index>:$column);
  let hasVerifier = 1;
  let assemblyFormat = "$value `,` $row (`[` $column^ `]`)? attr-dict `:` type($value) `,` type($row)";
}

def Rows_LocalRowOp : Rows_Op<"local_row", [HasParent<"KernelOp">]> {
  let summary = "a row that belongs to no operand: it lives as long as one row is worked on";
  let description = [{
    For a value that several phases need and that no output's row can hold. It has an element per column, a float.
    One phase writes it, which every row goes through; later phases read it. Targets keep it where they have room: a CPU
    on the stack. It is not pure, so that two rows of one type stay two.
  }];
  let results = (outs Res<Rows_RowType, "the row", [MemAlloc]>:$row);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict `:` type($row)";
}

def Rows_AccumulateOp : Rows_Op<"accumulate", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds the row's term to the sum of a column down the rows";
  let description = [{
    Terms are f32, or f64 where the sum is f64; a narrower sum is rounded at its end, once.
  }];
  let arguments = (ins AnyTypeOf<[F32, F64]>:$value, Rows_RowType:$row, Index:$column);
  let hasVerifier = 1;
  let assemblyFormat = "$value `,` $row `[` $column `]` attr-dict `:` type($value) `,` type($row)";
}

def Rows_RandomHalfOp : Rows_Op<"random_half", [Pure]> {
  let summary = "the 16-bit random number of a column, in [0, 65536)";
  let description = [{
    Inside a phase. Half column mod 8 of Philox4x32-10(key = seed, counter = (column div 8 + origin_call, row, site,
    step)); the low 32 bits of the counter's words count. `origin_call` is the same for all columns. The emitter makes one
    generator call per eight columns.
  }];
  let arguments = (ins Index:$column, I64:$seed, I64:$step, I64:$row, I64:$site, Optional<I64>:$origin_call);
  let results = (outs I32:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $column `seed` $seed `step` $step `row` $row `site` $site (`origin_call` $origin_call^)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// All that the numbers of a row depend on beside the column.
    ::mlir::ValueRange getRowWords() { return getOperands().drop_front(); }
  }];
}

def Rows_YieldOp : Rows_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp", "PhaseOp"]>]> {
  let summary = "ends the body of a kernel (no operands) or of a phase (one operand per reduction)";
  let arguments = (ins Variadic<Rows_Float>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
