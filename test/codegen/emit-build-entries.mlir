// RUN: resid-opt %s --allow-unregistered-dialect --resid-build-entries=cpu-features=avx2,avx512f | FileCheck %s

#shape = {arguments = [{name = "x", shape = array<i64: -1>, type = tensor<?xf32>}, {name = "scale", type = bf16},
                       {name = "n", type = index}], in_place = [],
          results = [{name = "out0", shape = array<i64: -1>, type = tensor<?xf32>}],
          sizes = [{argument = 0 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "x_dim0", same_as = 0 : i64}],
          symbol = "f", type = ""}

// The blocks that refuse arrays; then the checks in their order: context, pointers, sizes, overlap, values, processor; then the
// call and its status. The number 246 is the byte of -10, and 252 that of -4; a failed condition is reason 12 (3072).
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[CTX:[a-z0-9]+]]: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr, %[[DIM:[a-z0-9]+]]: i64, %[[SCALE:[a-z0-9]+]]: i16, %[[N:[a-z0-9]+]]: i64, %[[OUT:[a-z0-9]+]]: !llvm.ptr) -> i32
// CHECK:         %[[STATUS:.*]] = llvm.alloca %{{.*}} x i32
// CHECK:         llvm.icmp "eq" %[[CTX]]
// The words of a refusal: addresses, then sizes.
// CHECK:         llvm.store %[[X]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.store %[[OUT]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.store %[[DIM]], %{{.*}} : i64, !llvm.ptr
// CHECK:         call @f.refuse_arrays(%[[CTX]], %{{.*}}, %[[WORDS:.*]])
// CHECK:         %c-5_i32 = arith.constant -5
// CHECK:         call @f.refuse_arrays(%[[CTX]], %c-5_i32, %[[WORDS]])
// CHECK:         %[[VERSION:.*]] = llvm.load {{.*}} -> i32
// CHECK:         arith.cmpi ne, %[[VERSION]]
// CHECK:         call @f.refuse_value(%[[CTX]], %c246_i32, %{{.*}})
// CHECK:         %c-1_i32 = arith.constant -1
// CHECK:         arith.cmpi ugt, %[[DIM]], %{{.*}} : i64
// CHECK:         %c-2_i32 = arith.constant -2
// CHECK:         %[[FROM:.*]] = llvm.ptrtoint %[[X]]
// CHECK:         %[[TO:.*]] = llvm.ptrtoint %[[OUT]]
// CHECK:         arith.subi %[[FROM]], %[[TO]]
// CHECK:         %[[INDEX:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK:         arith.cmpi eq, %{{.*}}, %[[INDEX]]
// CHECK:         %[[NUMBER:.*]] = arith.index_cast %[[INDEX]] : index to i64
// CHECK:         call @f.refuse_value(%[[CTX]], %c3324_i32, %[[NUMBER]])
// CHECK:         %[[STATE:.*]] = llvm.mlir.addressof @resid_cpu_state
// CHECK:         llvm.load %[[STATE]] atomic monotonic
// CHECK:         call @resid_cpu_choice()
// CHECK:         arith.bitcast %[[SCALE]] : i16 to bf16
// CHECK:         call @f.impl(%[[CTX]],
// CHECK:         %[[CODE:.*]] = llvm.load %[[STATUS]]
// CHECK:         arith.cmpi ne, %[[CODE]], %c0_i32
// CHECK:         call @f.refuse_value(%[[CTX]], %[[CODE]], %{{.*}})
// CHECK-LABEL: func.func @f_scratch_bytes(%{{.*}}: i64) -> i64
// CHECK-LABEL: func.func private @f.impl
// The implementation is given pointers, scalars and sizes; and the status cell, since it has something to answer. A result
// overlaps nothing else: such a call is refused.
// CHECK-SAME:    (%{{[a-z0-9]+}}: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: bf16, %[[N:[a-z0-9]+]]: index, %[[OUT:[a-z0-9]+]]: !llvm.ptr {llvm.noalias}, %[[DIM:[a-z0-9]+]]: i64, %[[CELL:[a-z0-9]+]]: memref<i32>) {
// CHECK-NEXT:    %[[SIZE:.*]] = arith.index_cast %[[DIM]]
// CHECK-DAG:     %[[FROM:.*]] = builtin.unrealized_conversion_cast %[[X]], %[[SIZE]] : !llvm.ptr, index to memref<?xf32>
// CHECK-DAG:     %[[TO:.*]] = builtin.unrealized_conversion_cast %[[OUT]], %[[SIZE]] : !llvm.ptr, index to memref<?xf32>
// What the entry has checked is gone; what follows from an array answers its number (1) with its status.
// CHECK-NOT:     rows.require %{{.*}} status -4
// CHECK:         rows.require %{{.*}} status 68860
// CHECK:         memref.copy %[[FROM]], %[[TO]]
func.func private @f.impl(%ctx: !llvm.ptr, %x: memref<?xf32>, %scale: bf16, %n: index, %out: memref<?xf32>, %status: memref<i32>)
    attributes {resid.signature = #shape} {
  %c0 = arith.constant 0 : index
  %size = memref.dim %out, %c0 : memref<?xf32>
  %is_n = arith.cmpi eq, %size, %n : index
  %number = arith.index_cast %n : index to i64
  rows.require %is_n status -4 says "n is {0}, expected the size" of %number
  %first = memref.load %x[%c0] : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  %is_positive = arith.cmpf ogt, %first, %zero : f32
  rows.require %is_positive status -4 says "x is negative"
  memref.copy %x, %out : memref<?xf32> to memref<?xf32>
  return
}

// Scratch memory: sizes refused, none needed, no context, no hooks, no memory.
// The reasons 1 to 4 (256, 512 …) stand over the bytes of -2 and -7.
// CHECK-LABEL: func.func @g(
// CHECK:         %[[BYTES:.*]] = call @g.scratch
// CHECK:         call @g.refuse_value(%{{.*}}, %c510_i32, %{{.*}})
// CHECK:         call @g.refuse_value(%{{.*}}, %c761_i32{{.*}}, %[[BYTES]])
// CHECK:         call @g.refuse_value(%{{.*}}, %c1017_i32{{.*}}, %[[BYTES]])
// CHECK:         call @g.refuse_value(%{{.*}}, %c1273_i32{{.*}}, %[[BYTES]])
// CHECK-LABEL: func.func @g_scratch_bytes
// CHECK:         call @g.scratch
// CHECK-LABEL: func.func private @g.impl(%{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr {llvm.noalias}, %{{[a-z0-9]+}}: i64)
#scratch = {arguments = [], in_place = [], results = [], sizes = [], symbol = "g", type = ""}
func.func private @g.scratch() -> i64 {
  %c64 = arith.constant 64 : i64
  return %c64 : i64
}
func.func private @g.impl(%ctx: !llvm.ptr, %scratch: memref<?xi8>, %status: memref<i32>)
    attributes {resid.signature = #scratch, resid.scratch = @g.scratch} {
  return
}

// Row strides: checked with the sizes; arrays whose extents overlap may still take turns; and part of the buffers.
// CHECK-LABEL: func.func @h(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr, %[[ROWS:[a-z0-9]+]]: i64, %[[XSTRIDE:[a-z0-9]+]]: i64, %[[OUT:[a-z0-9]+]]: !llvm.ptr, %[[STRIDE:[a-z0-9]+]]: i64) -> i32
// CHECK:         arith.cmpi slt, %[[XSTRIDE]], %c8_i64
// CHECK:         arith.mului_extended %{{.*}}, %[[XSTRIDE]]
// CHECK:         arith.cmpi slt, %[[STRIDE]], %c8_i64
// CHECK:         %c-2_i32 = arith.constant -2
// CHECK:         arith.remui
// CHECK:         call @h.impl(%{{.*}}, %[[X]], %[[XSTRIDE]], %[[OUT]], %[[STRIDE]], %[[ROWS]]) :
// CHECK-LABEL: func.func @h_scratch_bytes(%{{.*}}: i64) -> i64
// CHECK-LABEL: func.func private @h.impl(
// CHECK:         builtin.unrealized_conversion_cast %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr, index, i64 to memref<2x?x8xf32, strided<[?, ?, 1]>>
#strided = {arguments = [{name = "x", shape = array<i64: 2, -1, 8>, stride = "x_stride", type = tensor<2x?x8xf32>}], in_place = [],
            results = [{name = "out0", shape = array<i64: 2, -1, 8>, stride = "out0_stride", type = tensor<2x?x8xf32>}],
            sizes = [{argument = 0 : i64, dimension = 1 : i64, fixed = -1 : i64, name = "x_dim1", same_as = 0 : i64}],
            symbol = "h", type = ""}
func.func private @h.impl(%ctx: !llvm.ptr, %x: memref<2x?x8xf32, strided<[?, ?, 1]>>, %out: memref<2x?x8xf32, strided<[?, ?, 1]>>,
                           %status: memref<i32>) attributes {resid.signature = #strided} {
  memref.copy %x, %out : memref<2x?x8xf32, strided<[?, ?, 1]>> to memref<2x?x8xf32, strided<[?, ?, 1]>>
  return
}

// The processor is asked once; AVX-512 needs the system to keep its registers (0xe6 = 230 of XCR0), and bit 27 of leaf 1.
// CHECK-LABEL: func.func private @resid_cpu_choice() -> i32
// CHECK:         llvm.load %{{.*}} atomic monotonic
// CHECK:         llvm.inline_asm has_side_effects "cpuid"
// CHECK:         llvm.mlir.constant(65568 : i32)
// CHECK:         llvm.mlir.constant(134217728 : i32)
// CHECK:         llvm.inline_asm has_side_effects "xgetbv"
// CHECK:         llvm.mlir.constant(230 : i32)
// CHECK:         llvm.store %{{.*}} atomic monotonic

// On aarch64 the system is asked for two words (keys 16 and 26): here for SVE (bit 22) of the first and bf16 (bit 14) of the second.
// RUN: resid-opt %s --allow-unregistered-dialect --resid-build-entries='aarch64 cpu-features=sve,bf16' | FileCheck %s --check-prefix=ARM
// ARM:       llvm.func @getauxval(i64) -> i64
// ARM-LABEL: func.func private @resid_cpu_choice() -> i32
// ARM-NOT:     llvm.inline_asm
// ARM:         llvm.mlir.constant(16 : i64)
// ARM:         llvm.call @getauxval
// ARM:         llvm.mlir.constant(26 : i64)
// ARM:         llvm.call @getauxval
// ARM:         llvm.mlir.constant(4194304 : i64)
// ARM:         llvm.mlir.constant(16384 : i64)
// ARM:         llvm.store %{{.*}} atomic monotonic

// Several CPUs: the best first. Whatever their number, each leaf is asked once; the call goes to the one that was chosen.
// RUN: resid-opt %s --allow-unregistered-dialect --resid-build-entries=variants=best:avx2+avx512f,next:avx2,least:sse3 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL:       func.func private @f.impl.best({{.*}}) attributes {resid.per_cpu}
// SEVERAL-LABEL: func.func @f(
// SEVERAL:         %[[KNOWN:.*]] = llvm.load %{{.*}} atomic monotonic
// SEVERAL:         %[[INDEX:.*]] = arith.subi %[[KNOWN]], %c1_i32
// SEVERAL:         arith.cmpi ult, %[[INDEX]], %c3_i32
// SEVERAL:         cf.cond_br %{{.*}}, ^[[CHOSEN:bb[0-9]+]](%[[KNOWN]] : i32), ^
// SEVERAL:         %[[ANSWER:.*]] = call @resid_cpu_choice() : () -> i32
// SEVERAL:         arith.cmpi ugt, %[[ANSWER]], %c3_i32
// SEVERAL:         ^[[CHOSEN]](%[[CHOICE:.*]]: i32):
// SEVERAL:         switch %[[CHOICE]] : i32, [
// SEVERAL-NEXT:      default: ^[[LEAST:bb[0-9]+]],
// SEVERAL-NEXT:      1: ^[[BEST:bb[0-9]+]],
// SEVERAL-NEXT:      2: ^[[NEXT:bb[0-9]+]]
// SEVERAL:         ^[[BEST]]:
// SEVERAL-NEXT:      call @f.impl.best(
// SEVERAL:         ^[[NEXT]]:
// SEVERAL-NEXT:      call @f.impl.next(
// SEVERAL:         ^[[LEAST]]:
// SEVERAL-NEXT:      call @f.impl.least(
// SEVERAL-LABEL: func.func private @f.impl(
// SEVERAL-SAME:    attributes {resid.per_cpu} {
// SEVERAL-LABEL: func.func private @resid_cpu_choice() -> i32
// SEVERAL:         llvm.load %{{.*}} atomic monotonic
// SEVERAL-COUNT-3: llvm.inline_asm has_side_effects "cpuid"
// SEVERAL-NOT:     "cpuid"
// SEVERAL:         llvm.inline_asm has_side_effects "xgetbv"
// SEVERAL:         llvm.store %{{.*}} atomic monotonic
