// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contraction dialect: matrix products and their kin, with what is done to each of their elements, before anything
// is said about a target. Internal to codegen.

#ifndef RESID_CODEGEN_CONTRACTIONS_OPS
#define RESID_CODEGEN_CONTRACTIONS_OPS

include "codegen/kernels/KernelOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Contraction_Dialect : Dialect {
  let name = "contraction";
  let cppNamespace = "::mlir::resid::contraction";
  let summary = "matrix products and their kin, with what is done to their elements";
}

class Contraction_Op<string mnemonic, list<Trait> traits = []> : Op<Contraction_Dialect, mnemonic, traits>;

def Contraction_Number : AnyTypeOf<[F16, BF16, F32, F64, I32], "f16, bf16, f32, f64 or i32">;

def Contraction_KernelOp : Contraction_Op<"kernel", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<KernelOpInterface, ["computeIndexing", "getOuterScalars", "mayOverwrite"]>, SingleBlock,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a contraction, and an elementwise program on its elements";
  let description = [{
    For each element of the result, which is a point of the parallel loops:

      acc = start, or the element of `initial`, widened to the arithmetic type (f64 if a, b or the product is f64,
            else f32)
      acc = fma(a[…], b[…], acc) over the contracted loops, which are the last ones, in lexicographic order
      product = acc, rounded once to the type of the body's first argument
      init[…] = what the body yields for product and the elements of `inputs`

    Where a and b are i8, acc, start and product are i32, and so is the arithmetic type: the sum is exact modulo 2^32, in
    whatever order.

    `indexing_maps` has the maps of a, b, initial (if there is one), inputs and init: from all loops, parallel ones
    first, to the operand's dimensions, which are different loops each. Only a and b use contracted loops, `init` uses
    all parallel ones, and some loop is in one of a and b only. Sizes of loops are those of a, b and init, which agree.

    With `row_scale`, in the arithmetic type, a[…]·row_scale[…], rounded, takes the place of a[…]; its map comes after
    those of `inputs` and uses parallel loops of a alone. With `chain`, every run of so many contracted points has an acc
    of its own, which begins at `start`; the first one's takes the others' by one addition each, in order.

    `packed_columns`: b holds panels of so many columns. Its map is (k, n) or (n, k) of a matrix without batches, where
    k is all contracted loops in order, and its shape is [ceil(N / columns)][K][columns], or [ceil(N / columns)][ceil(K
    / t)][columns][t] with t = 2 for bf16 and t = 4 for i8. Columns past N and the k past K are never used. Other
    numbers than 16 are N rounded up to a multiple of 8, and N is known.

    With `b_group`, `b` holds integers q of 8 bits, or two of 4 bits in each byte (`b_nibbles`), the first in the low half.
    Its map is (n, k), k is the contracted loop, and the elements of a row are contiguous. What takes the place of
    b[n, k] is, rounded once to f32, scale[n, k / group]·q, scale·(q - zero) or fma(scale, q, -offset): `b_parameters`
    has the scale, and after it a zero of i8 or an offset of f32, if there is one. These are contiguous and have no maps.

    `any_rows`: a target may be asked for any range of rows, since sums down the rows of the kernels around it say where
    blocks of rows end.

    The buffers of `initial` and `inputs` may be exactly that of `init` where their maps are the same; those of a and b
    may not. `scratch` is memory for panels and for a in the arithmetic type, which a kernel on buffers has if it needs
    any. Scalars from above may be used in the body.
  }];
  let arguments = (ins AnyShaped:$a, AnyShaped:$b, Optional<Contraction_Number>:$start, Optional<AnyShaped>:$initial,
                       Variadic<AnyShaped>:$inputs, Optional<AnyShaped>:$row_scale,
                       Variadic<AnyShaped>:$b_parameters, AnyShaped:$init,
                       Optional<MemRefRankOf<[I8], [1]>>:$scratch, AffineMapArrayAttr:$indexing_maps,
                       I64Attr:$parallel_loops, OptionalAttr<I64Attr>:$packed_columns,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$chain,
                       OptionalAttr<I64Attr>:$b_group, UnitAttr:$b_nibbles, UnitAttr:$any_rows);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `a` `(` $a `:` type($a) `)` `b` `(` $b `:` type($b) `)` (`start` `(` $start^ `:` type($start) `)`)?
    (`initial` `(` $initial^ `:` type($initial) `)`)? (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`row_scale` `(` $row_scale^ `:` type($row_scale) `)`)?
    (`b_parameters` `(` $b_parameters^ `:` type($b_parameters) `)`)?
    `outs` `(` $init `:` type($init) `)` (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    attr-dict-with-keyword (`->` type($result)^)? $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// The operands that have maps, in the maps' order: a, b, initial, inputs, row_scale, init.
    ::llvm::SmallVector<::mlir::OpOperand *> getMappedOperands();
    ::mlir::AffineMap getMap(::mlir::OpOperand &operand);
    ::mlir::AffineMap getInitMap() {
      return ::llvm::cast<::mlir::AffineMapAttr>(getIndexingMaps().getValue().back()).getValue();
    }
    /// Whether b lies otherwise than its map says: in panels, or as integers.
    bool hasOwnLayout(::mlir::OpOperand &operand) {
      return &operand == &getBMutable() && (getPackedColumns() || getBGroup());
    }
    /// Whether the operand is one of b's parameters.
    bool isParameter(::mlir::OpOperand &operand) {
      auto [first, count] = getODSOperandIndexAndLength(kParameters);
      return operand.getOperandNumber() >= first && operand.getOperandNumber() < first + count;
    }
    /// The place of b's parameters among the operands.
    static constexpr unsigned kParameters = 6;
    /// The type of the elements of the product, before the body.
    ::mlir::Type getProductType() { return getBody().getArgument(0).getType(); }
    /// The type of acc.
    ::mlir::Type getArithmeticType();
    unsigned getNumLoops() { return getInitMap().getNumDims(); }
  }];
}

def Contraction_RowBlocksOp : Contraction_Op<"row_blocks", [NoTerminator, NoRegionArguments, RecursiveMemoryEffects,
    SingleBlock]> {
  let summary = "a product, and the row kernels around it, which may run block of rows by block of rows";
  let description = [{
    On buffers. Holds one `contraction.kernel` and `rows.kernel` ops, which work on the same rows, numbered alike: those
    of the product are its parallel loops but the last one. For any blocks of rows, all kernels may be run on one block,
    in the order they stand in, before or beside the next block; the results are those of running them whole, one after
    the other. So what one kernel writes of a row, others use for this row only.

    A row of the product may be several of a row kernel: one for each stream, say. `row_counts` says how many, for each
    kernel; without it each has one.

    `locals` are temporaries that nothing else reads: their rows need not outlive their block. They are contiguous, and
    `row_bytes` says for each how many bytes a row has.
  }];
  let arguments = (ins Variadic<AnyMemRef>:$locals, DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$row_bytes,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$row_counts);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`locals` `(` $locals^ `:` type($locals) `)`)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    KernelOp getProduct() { return *getBody().getOps<KernelOp>().begin(); }
  }];
}

def Contraction_YieldOp : Contraction_Op<"yield", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends the body of a contraction with the element that is stored";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value `:` type($value) attr-dict";
}

#endif
