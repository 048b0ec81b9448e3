// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention dialect: scaled dot-product attention in memory of any layout, before anything is said about a target.
// Internal to codegen.

#ifndef RESID_CODEGEN_ATTENTION_OPS
#define RESID_CODEGEN_ATTENTION_OPS

include "codegen/kernels/KernelOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attention_Dialect : Dialect {
  let name = "attention";
  let cppNamespace = "::mlir::resid::attention";
  let summary = "scaled dot-product attention of whole heads";
}

def Attention_KernelOp : Op<Attention_Dialect, "kernel", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<KernelOpInterface, ["computeIndexing", "mayOverwrite"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "what resid.attention computes, with operands in any order of their dimensions";
  let description = [{
    The arithmetic is that of resid.attention (docs/dialect/attention.md). `inits` are the result and, where they are
    asked for, max and sum.

    `indexing_maps` has the maps of q, k, v, the mask, the sink and the ranges (if they are there) and the inits: from
    `(batch, head, query, key, column)` to the operand's dimensions, which are different loops each. A loop that the map of
    q or k does not have is of size 1. Rows of q and k have the same number of columns. Those of v and of the result may have
    another one. For k and v, `head` counts their own heads; the number of heads of q is a
    multiple of theirs. In the mask's map a dimension may be the constant 0, which broadcasts.

    `dropout` is seed, step, the row of the first query and the site, as words that fit the generator's counters; in a
    shard also what is added to the calls of a row, and the local and the global extent of rows (codegen/rows). Weights
    are kept where their random half is at least `threshold` (docs/dialect/dropout.md), and multiplied by `kept_scale`.

    Without `window` or `cap` there is none.

    `ranges`, of i64, say for each query which keys it sees, in place of `past`, `causal` and `window`: the first one,
    the end, and perhaps the *origin*, a key from which places are counted, so that chunks begin there and every 256
    keys further on. Queries that see a key and have one origin stand side by side. One that sees no key has an end that
    is not after its first key.

    The buffer of the result may be exactly that of q where their maps and types are the same. `scratch` is memory that a
    target asks for, on buffers. On CPUs each task packs keys and values there, and keeps the states of its queries
    (AttentionMemory.h).
  }];
  let arguments = (ins AnyShaped:$q, AnyShaped:$k, AnyShaped:$v, Optional<AnyShaped>:$mask,
                       Optional<AnyShaped>:$sink, Optional<I64>:$past, Variadic<AnyShaped>:$ranges,
                       Variadic<I64>:$dropout, Variadic<AnyShaped>:$inits, Optional<MemRefRankOf<[I8], [1]>>:$scratch,
                       AffineMapArrayAttr:$indexing_maps, F64Attr:$scale, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$cap, OptionalAttr<I64Attr>:$threshold, OptionalAttr<F64Attr>:$kept_scale);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `q` `(` $q `:` type($q) `)` `k` `(` $k `:` type($k) `)` `v` `(` $v `:` type($v) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`sink` `(` $sink^ `:` type($sink) `)`)? (`past` `(` $past^ `)`)?
    (`ranges` `(` $ranges^ `:` type($ranges) `)`)? (`dropout` `(` $dropout^ `)`)?
    `outs` `(` $inits `:` type($inits) `)` (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    attr-dict-with-keyword (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// The operands that have a map, in its order: q, k, v, the mask, the sink, the ranges, the inits.
    ::llvm::SmallVector<::mlir::OpOperand *> getMappedOperands();
    ::mlir::AffineMap getMap(unsigned mapped) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getIndexingMaps()[mapped]).getValue();
    }
    /// The type of scores and sums: f64 if an operand of floats is, else f32.
    ::mlir::FloatType getArithmeticType();
    /// The place of the result among the operands with a map.
    unsigned getResultOperand() { return 3 + (getMask() ? 1 : 0) + (getSink() ? 1 : 0) + getRanges().size(); }
  }];
}

def Attention_BackwardOp : Op<Attention_Dialect, "backward", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<KernelOpInterface, ["computeIndexing"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "what resid.attention_grad computes, with operands in any order of their dimensions";
  let description = [{
    The arithmetic is that of resid.attention_grad (docs/dialect/attention_grad.md). `inits` are dq, dk, dv and, with a
    sink, dsinks.

    `indexing_maps` has the maps of q, k, v, the mask, the sink and the ranges (if they are there), dy, max, sum and the
    inits, as `attention.kernel` has them. `ranges`, `dropout`, `threshold` and `kept_scale` are as there too. `scratch`
    is memory that a target asks for: on CPUs each task keeps a head of keys and values there, and the sums of their
    gradients (BackwardMemory.h), and GPUs keep a number for each query (cuda/attention/AttentionKernels.h).
  }];
  let arguments = (ins AnyShaped:$q, AnyShaped:$k, AnyShaped:$v, Optional<AnyShaped>:$mask,
                       Optional<AnyShaped>:$sink, Variadic<AnyShaped>:$ranges, AnyShaped:$dy, AnyShaped:$max,
                       AnyShaped:$sum, Variadic<I64>:$dropout, Variadic<AnyShaped>:$inits,
                       Optional<MemRefRankOf<[I8], [1]>>:$scratch, AffineMapArrayAttr:$indexing_maps, F64Attr:$scale,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$cap,
                       OptionalAttr<I64Attr>:$threshold, OptionalAttr<F64Attr>:$kept_scale);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `q` `(` $q `:` type($q) `)` `k` `(` $k `:` type($k) `)` `v` `(` $v `:` type($v) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`sink` `(` $sink^ `:` type($sink) `)`)?
    (`ranges` `(` $ranges^ `:` type($ranges) `)`)? `dy` `(` $dy `:` type($dy) `)`
    `max` `(` $max `:` type($max) `)` `sum` `(` $sum `:` type($sum) `)` (`dropout` `(` $dropout^ `)`)?
    `outs` `(` $inits `:` type($inits) `)`
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)? attr-dict-with-keyword (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// The operands that have a map, in its order.
    ::llvm::SmallVector<::mlir::OpOperand *> getMappedOperands();
    ::mlir::AffineMap getMap(unsigned mapped) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getIndexingMaps()[mapped]).getValue();
    }
    /// The type of scores and sums: f64 if q, k, v or a mask of floats is, else f32.
    ::mlir::FloatType getArithmeticType();
  }];
}

#endif
