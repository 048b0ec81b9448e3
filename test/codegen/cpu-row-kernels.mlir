// Kernels on memrefs, compiled and run: the same bits as a plain model at every width, in place, off alignment.
// REQUIRES: x86_64
// RUN: resid-opt %s --resid-lower-to-cpu -o %t.mlir
// RUN: mlir-translate --mlir-to-llvmir %t.mlir -o %t.ll
// RUN: opt -O3 -mcpu=native %t.ll -o %t.bc
// RUN: llc -O3 -mcpu=native -filetype=obj -relocation-model=pic %t.bc -o %t.o
// RUN: %cc -O1 -ffp-contract=off -I%S/Inputs %S/Inputs/cpu-row-kernels.c %t.o -lm -o %t.exe
// RUN: %t.exe | FileCheck %s --check-prefix=VALUES
// VALUES: all as expected

// Without optimisation, and for narrow and wide registers: the same.
// RUN: resid-opt %s --resid-lower-to-cpu="vector-bits=512" | mlir-translate --mlir-to-llvmir -o %t.wide.ll
// RUN: llc -O0 -mcpu=native -filetype=obj -relocation-model=pic %t.wide.ll -o %t.wide.o
// RUN: %cc -O1 -ffp-contract=off -I%S/Inputs %S/Inputs/cpu-row-kernels.c %t.wide.o -lm -o %t.wide.exe
// RUN: %t.wide.exe | FileCheck %s --check-prefix=VALUES

// The scalar path: the same.
// RUN: resid-opt %s --resid-lower-to-cpu="schedule=path=scalar" | mlir-translate --mlir-to-llvmir | opt -O3 -mcpu=native \
// RUN:   | llc -O3 -mcpu=native -filetype=obj -relocation-model=pic -o %t.scalar.o
// RUN: %cc -O1 -ffp-contract=off -I%S/Inputs %S/Inputs/cpu-row-kernels.c %t.scalar.o -lm -o %t.scalar.exe
// RUN: %t.scalar.exe | FileCheck %s --check-prefix=VALUES

// The narrowest registers, in two ways of taking the last columns: the same.
// RUN: for masked in 0 32; do \
// RUN:   resid-opt %s --resid-lower-to-cpu="vector-bits=128 masked-bits=$masked" | mlir-translate --mlir-to-llvmir \
// RUN:     | llc -O1 -mcpu=native -filetype=obj -relocation-model=pic -o %t.narrow.o && \
// RUN:   %cc -O1 -ffp-contract=off -I%S/Inputs %S/Inputs/cpu-row-kernels.c %t.narrow.o -lm -o %t.narrow.exe && \
// RUN:   %t.narrow.exe || exit 1; done | FileCheck %s --check-prefixes=VALUES,AGAIN
// AGAIN: all as expected

#full = affine_map<(r, c) -> (r, c)>
#col = affine_map<(r, c) -> (c)>
func.func @add_layer_norm(%x: memref<?x?xf32>, %f: memref<?x?xf32>, %g: memref<?xf32>, %b: memref<?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %cols = memref.dim %x, %c1 : memref<?x?xf32>
  %ci = arith.index_cast %cols : index to i64
  %n = arith.sitofp %ci : i64 to f32
  rows.kernel rows(%rows) columns(%cols) ins(%x, %f, %g, %b : memref<?x?xf32>, memref<?x?xf32>, memref<?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>)
    attributes {indexing_maps = [#full, #full, #col, #col, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %fr: !rows.row<f32>, %gr: !rows.row<f32>, %br: !rows.row<f32>, %yr: !rows.row<f32>):
    %quarter = arith.constant 0.25 : f32
    %one = arith.constant 1.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %inf = arith.constant 0x7f800000 : f32
    %sx = rows.phase [sum] : f32 {
    ^bb0(%j: index):
      %a = rows.load %xr[%j] : !rows.row<f32> -> f32
      %c = rows.load %fr[%j] : !rows.row<f32> -> f32
      %s = arith.addf %a, %c : f32
      rows.store %s, %yr[%j] : f32, !rows.row<f32>
      rows.yield %s : f32
    }
    %k = arith.divf %sx, %n : f32
    %sd:2 = rows.phase [sum, sum_of_squares] : f32, f32 {
    ^bb0(%j: index):
      %s = rows.load %yr[%j] : !rows.row<f32> -> f32
      %d = arith.subf %s, %k : f32
      rows.yield %d, %d : f32, f32
    }
    %e = arith.divf %sd#0, %n : f32
    %q = arith.divf %sd#1, %n : f32
    %aq = math.absf %q : f32
    %fin = arith.cmpf olt, %aq, %inf : f32
    %ee = arith.mulf %e, %e : f32
    %q4 = arith.mulf %q, %quarter : f32
    %le = arith.cmpf ole, %ee, %q4 : f32
    %ok = arith.andi %fin, %le : i1
    %var = scf.if %ok -> f32 {
      %ne = arith.negf %e : f32
      %v = math.fma %ne, %e, %q : f32
      scf.yield %v : f32
    } else {
      %s2 = rows.phase [sum_of_squares] : f32 {
      ^bb0(%j: index):
        %s = rows.load %yr[%j] : !rows.row<f32> -> f32
        %d = arith.subf %s, %k : f32
        %de = arith.subf %d, %e : f32
        rows.yield %de : f32
      }
      %v = arith.divf %s2, %n : f32
      scf.yield %v : f32
    }
    %ve = arith.addf %var, %eps : f32
    %sq = math.sqrt %ve : f32
    %rs = arith.divf %one, %sq : f32
    rows.phase [] {
    ^bb0(%j: index):
      %s = rows.load %yr[%j] : !rows.row<f32> -> f32
      %d = arith.subf %s, %k : f32
      %de = arith.subf %d, %e : f32
      %xh = arith.mulf %de, %rs : f32
      %ga = rows.load %gr[%j] : !rows.row<f32> -> f32
      %be = rows.load %br[%j] : !rows.row<f32> -> f32
      %o = math.fma %xh, %ga, %be : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

#row = affine_map<(r, c) -> (r)>
func.func @sums_f64(%x: memref<?x?xf64>, %sums: memref<?xf64>, %squares: memref<?xf64>, %largest: memref<?xf64>,
                    %top: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %cols = memref.dim %x, %c1 : memref<?x?xf64>
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf64>)
      outs(%sums, %squares, %largest, %top : memref<?xf64>, memref<?xf64>, memref<?xf64>, memref<?xf64>)
      attributes {indexing_maps = [#full, #row, #row, #row, #row]} {
  ^bb0(%r: index, %xr: !rows.row<f64>, %sr: !rows.row<f64>, %qr: !rows.row<f64>, %mr: !rows.row<f64>, %tr: !rows.row<f64>):
    %s:4 = rows.phase [sum, sum_of_squares, max, signed_max] : f64, f64, f64, f64 {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f64> -> f64
      %a = math.absf %v : f64
      rows.yield %v, %v, %a, %v : f64, f64, f64, f64
    }
    rows.store %s#0, %sr : f64, !rows.row<f64>
    rows.store %s#1, %qr : f64, !rows.row<f64>
    rows.store %s#2, %mr : f64, !rows.row<f64>
    rows.store %s#3, %tr : f64, !rows.row<f64>
  }
  return
}

// Two row dimensions: an operand per first dimension, one with a broadcast 1, one with strided rows.
#full3 = affine_map<(a, b, c) -> (a, b, c)>
#batch = affine_map<(a, b, c) -> (a)>
#rowwise = affine_map<(a, b, c) -> (a, b, 0)>
func.func @broadcasts(%x: memref<?x?x?xf32>, %g: memref<?xf32>, %p: memref<?x?x1xf32>, %f: memref<?x?x?xf32>,
                      %y: memref<?x?x?xf32, strided<[?, ?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.dim %x, %c0 : memref<?x?x?xf32>
  %b = memref.dim %x, %c1 : memref<?x?x?xf32>
  %c = memref.dim %x, %c2 : memref<?x?x?xf32>
  rows.kernel rows(%a, %b) columns(%c) ins(%x, %g, %p, %f : memref<?x?x?xf32>, memref<?xf32>, memref<?x?x1xf32>, memref<?x?x?xf32>)
      outs(%y : memref<?x?x?xf32, strided<[?, ?, 1]>>)
      attributes {indexing_maps = [#full3, #batch, #rowwise, #full3, #full3]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %gr: !rows.row<f32>, %pr: !rows.row<f32>, %fr: !rows.row<f32>, %yr: !rows.row<f32>):
    %gate = rows.load %gr : !rows.row<f32> -> f32
    %shift = rows.load %pr : !rows.row<f32> -> f32
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %w = rows.load %fr[%j] : !rows.row<f32> -> f32
      %0 = arith.mulf %v, %gate : f32
      %1 = arith.addf %0, %shift : f32
      %2 = arith.addf %1, %w : f32
      rows.store %2, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

func.func @dropout(%x: memref<?x?xf32>, %seed: i64, %step: i64, %origin: i64, %site: i64, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %cols = memref.dim %x, %c1 : memref<?x?xf32>
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %i = arith.index_cast %r : index to i64
    %row = arith.addi %i, %origin : i64
    %threshold = arith.constant 6554 : i32
    %scale = arith.constant 1.11111867 : f32
    %zero = arith.constant 0.0 : f32
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %h = rows.random_half %j seed %seed step %step row %row site %site
      %keep = arith.cmpi uge, %h, %threshold : i32
      %m = arith.mulf %v, %scale : f32
      %o = arith.select %keep, %m, %zero : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// The generator's row changes along the columns, so no eight columns share a call.
func.func @dropout_moving_rows(%x: memref<?x?xf32>, %last: index, %seed: i64, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c0_i64 = arith.constant 0 : i64
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %cols = memref.dim %x, %c1 : memref<?x?xf32>
  %per_row = arith.divui %cols, %last : index
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %threshold = arith.constant 32768 : i32
    %zero = arith.constant 0.0 : f32
    %first = arith.muli %r, %per_row : index
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %above = arith.divui %j, %last : index
      %row = arith.addi %first, %above : index
      %row_i64 = arith.index_cast %row : index to i64
      %h = rows.random_half %j seed %seed step %c0_i64 row %row_i64 site %c0_i64
      %keep = arith.cmpi uge, %h, %threshold : i32
      %o = arith.select %keep, %v, %zero : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// With a context: in tasks, through its hook.
func.func @square_in_tasks(%ctx: !llvm.ptr, %x: memref<?x?xf32>, %scale: f32, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %cols = memref.dim %x, %c1 : memref<?x?xf32>
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %i = arith.index_cast %r : index to i64
    %f = arith.sitofp %i : i64 to f32
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %o = math.fma %v, %scale, %f : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// Copies: between dense buffers, and out of a part of one.
func.func @copies(%x: memref<?x?xf32>, %part: memref<?x?xf32, strided<[?, 1], offset: ?>>, %y: memref<?x?xf32>,
                  %z: memref<?x?xf32>) {
  memref.copy %x, %y : memref<?x?xf32> to memref<?x?xf32>
  memref.copy %part, %z : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x?xf32>
  return
}

// Two column dimensions, a parameter along both, and a scalar for all rows; per-row values stored beside.
#rows3 = affine_map<(r, b, c) -> (r, b, c)>
#both = affine_map<(r, b, c) -> (b, c)>
#scalar = affine_map<(r, b, c) -> ()>
#perrow = affine_map<(r, b, c) -> (r)>
func.func @two_columns(%x: memref<?x?x?xf32>, %g: memref<?x?xf32>, %a: memref<f32>, %sum: memref<?xf32>, %y: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = memref.dim %x, %c0 : memref<?x?x?xf32>
  %b = memref.dim %x, %c1 : memref<?x?x?xf32>
  %c = memref.dim %x, %c2 : memref<?x?x?xf32>
  rows.kernel rows(%r) columns(%b, %c) ins(%x, %g, %a : memref<?x?x?xf32>, memref<?x?xf32>, memref<f32>)
      outs(%sum, %y : memref<?xf32>, memref<?x?x?xf32>) attributes {indexing_maps = [#rows3, #both, #scalar, #perrow, #rows3]} {
  ^bb0(%i: index, %xr: !rows.row<f32>, %gr: !rows.row<f32>, %ar: !rows.row<f32>, %sr: !rows.row<f32>, %yr: !rows.row<f32>):
    %alpha = rows.load %ar : !rows.row<f32> -> f32
    %s = rows.phase [sum] : f32 {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %w = rows.load %gr[%j] : !rows.row<f32> -> f32
      %0 = arith.mulf %v, %w : f32
      %1 = arith.mulf %0, %alpha : f32
      rows.store %1, %yr[%j] : f32, !rows.row<f32>
      rows.yield %1 : f32
    }
    rows.store %s, %sr : f32, !rows.row<f32>
  }
  return
}
