// Numbers in arrays that the host would need: scalars of kernels, places of slices, what loops and branches carry, shapes
// (test/run/cuda-numbers.test).


// The start of a product, a factor of rows and the seed of a mask, from three arrays; the row kernel is one.
func.func @scalars(%x: tensor<?x70xf32>, %w: tensor<70x33xf32>, %start: tensor<3xf32>, %seeds: tensor<?xi64>)
    -> (tensor<?x33xf32>, tensor<?x70xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?x70xf32>
  %first = tensor.extract %start[%c2] : tensor<3xf32>
  %twice = arith.addf %first, %first : f32
  %empty = tensor.empty(%m) : tensor<?x33xf32>
  %init = linalg.fill ins(%twice : f32) outs(%empty : tensor<?x33xf32>) -> tensor<?x33xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x70xf32>, tensor<70x33xf32>) outs(%init : tensor<?x33xf32>) -> tensor<?x33xf32>
  %seed = tensor.extract %seeds[%c0] : tensor<?xi64>
  %step = tensor.extract %seeds[%c2] : tensor<?xi64>
  %d = resid.dropout %x seed(%seed, %step) {p = 0.25, site = 3} : tensor<?x70xf32>
  %factor = tensor.splat %first[%m] : tensor<?x70xf32>
  %z = arith.mulf %d, %factor : tensor<?x70xf32>
  %n = resid.rms_norm %z {epsilon = 1.0e-5} : tensor<?x70xf32>
  return %y, %n : tensor<?x33xf32>, tensor<?x70xf32>
}

// A number is read before its array changes, and needed in a loop after that; one of another type and one of one bit.
func.func @overwritten(%x: tensor<5x66xf32>, %n: index, %half: tensor<2xf16>, %flags: tensor<3xi1>)
    -> (tensor<5x66xf32>, tensor<5x66xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %factor = tensor.extract %x[%c3, %c1] : tensor<5x66xf32>
  %narrow = tensor.extract %half[%c1] : tensor<2xf16>
  %flag = tensor.extract %flags[%c1] : tensor<3xi1>
  %wide = arith.extf %narrow : f16 to f32
  %chosen = arith.select %flag, %factor, %wide : f32
  %squares = arith.mulf %x, %x : tensor<5x66xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %squares) -> tensor<5x66xf32> {
    %splat = tensor.splat %chosen : tensor<5x66xf32>
    %sum = arith.addf %carried, %splat : tensor<5x66xf32>
    %next = resid.rms_norm %sum {epsilon = 1.0e-5} : tensor<5x66xf32>
    scf.yield %next : tensor<5x66xf32>
  }
  %all = tensor.splat %factor : tensor<5x66xf32>
  %z = arith.addf %y, %all : tensor<5x66xf32>
  return %y, %z : tensor<5x66xf32>, tensor<5x66xf32>
}

// What a loop carries beside an array: a decay, and two numbers that trade places.
func.func @carried(%x: tensor<3x64xf32>, %n: index, %decay: tensor<f32>) -> (tensor<3x64xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %first = tensor.extract %decay[] : tensor<f32>
  %y, %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x, %old = %one, %older = %first)
      -> (tensor<3x64xf32>, f32, f32) {
    %splat = tensor.splat %old : tensor<3x64xf32>
    %sum = arith.addf %carried, %splat : tensor<3x64xf32>
    %norm = resid.layer_norm %sum {epsilon = 1.0e-5} : tensor<3x64xf32>
    %element = tensor.extract %norm[%c1, %i] : tensor<3x64xf32>
    %next = arith.addf %older, %element : f32
    scf.yield %norm, %next, %old : tensor<3x64xf32>, f32, f32
  }
  %pair = tensor.from_elements %a, %b : tensor<2xf32>
  return %y, %pair : tensor<3x64xf32>, tensor<2xf32>
}

// Sums and searches in loops of their own: one that may run in any order, one whose bounds and start are in arrays, and a
// choice between numbers. What is found is a factor of a kernel.
func.func @reduced(%x: tensor<4x65xf32>, %bounds: tensor<2xindex>, %n: index) -> (tensor<4x65xf32>, tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %n) step (%c1, %c1) init (%zero) -> f32 {
    %v = tensor.extract %x[%i, %j] : tensor<4x65xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      scf.reduce.return %t : f32
    }
  }
  %low = tensor.extract %bounds[%c0] : tensor<2xindex>
  %high = tensor.extract %bounds[%c1] : tensor<2xindex>
  %start = tensor.extract %x[%c1, %c1] : tensor<4x65xf32>
  %product = scf.for %i = %low to %high step %c1 iter_args(%p = %start) -> f32 {
    %v = tensor.extract %x[%c1, %i] : tensor<4x65xf32>
    %next = arith.mulf %p, %v : f32
    scf.yield %next : f32
  }
  %isLarger = arith.cmpf ogt, %sum, %product : f32
  %larger = scf.if %isLarger -> f32 {
    scf.yield %sum : f32
  } else {
    %half = arith.constant 0.5 : f32
    %less = arith.mulf %product, %half : f32
    scf.yield %less : f32
  }
  %splat = tensor.splat %larger : tensor<4x65xf32>
  %y = arith.mulf %x, %splat : tensor<4x65xf32>
  %z = resid.rms_norm %y {epsilon = 1.0e-5} : tensor<4x65xf32>
  %all = tensor.from_elements %sum, %product, %larger : tensor<3xf32>
  return %z, %all : tensor<4x65xf32>, tensor<3xf32>
}

// Slices at places in arrays: rows that a norm reads, rows that one writes, a column with gaps, a place that a loop has.
func.func @slices(%table: tensor<9x64xf32>, %at: tensor<3xi64>, %rows: tensor<2x64xf32>)
    -> (tensor<2x64xf32>, tensor<9x64xf32>, tensor<9xf32>, tensor<9x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tensor.extract %at[%c0] : tensor<3xi64>
  %i = arith.index_cast %a : i64 to index
  %b = tensor.extract %at[%c1] : tensor<3xi64>
  %j = arith.index_cast %b : i64 to index
  %taken = tensor.extract_slice %table[%i, 0] [2, 64] [1, 1] : tensor<9x64xf32> to tensor<2x64xf32>
  %n = resid.rms_norm %taken {epsilon = 1.0e-5} : tensor<2x64xf32>
  %norm = resid.layer_norm %rows {epsilon = 1.0e-5} : tensor<2x64xf32>
  %put = tensor.insert_slice %norm into %table[%j, 0] [2, 64] [3, 1] : tensor<2x64xf32> into tensor<9x64xf32>
  %column = tensor.extract_slice %put[0, %i] [9, 1] [1, 1] : tensor<9x64xf32> to tensor<9xf32>
  %moved = scf.for %k = %c0 to %c2 step %c1 iter_args(%carried = %table) -> tensor<9x64xf32> {
    %place = arith.addi %k, %i : index
    %row = tensor.extract_slice %rows[%k, 0] [1, 64] [1, 1] : tensor<2x64xf32> to tensor<1x64xf32>
    %scaled = resid.rms_norm %row {epsilon = 1.0e-5} : tensor<1x64xf32>
    %next = tensor.insert_slice %scaled into %carried[%place, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<9x64xf32>
    scf.yield %next : tensor<9x64xf32>
  }
  return %n, %put, %column, %moved : tensor<2x64xf32>, tensor<9x64xf32>, tensor<9xf32>, tensor<9x64xf32>
}

// Of open sizes, with fewer dimensions than the array, and as a product's factor.
func.func @places(%cache: tensor<3x?x64xbf16>, %which: tensor<2xi32>, %w: tensor<64x35xbf16>)
    -> (tensor<?x35xbf16>, tensor<3x?x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : bf16
  %m = tensor.dim %cache, %c1 : tensor<3x?x64xbf16>
  %a = tensor.extract %which[%c0] : tensor<2xi32>
  %i = arith.index_cast %a : i32 to index
  %b = tensor.extract %which[%c1] : tensor<2xi32>
  %j = arith.index_cast %b : i32 to index
  %part = tensor.extract_slice %cache[%i, 0, 0] [1, %m, 64] [1, 1, 1] : tensor<3x?x64xbf16> to tensor<?x64xbf16>
  %empty = tensor.empty(%m) : tensor<?x35xbf16>
  %init = linalg.fill ins(%zero : bf16) outs(%empty : tensor<?x35xbf16>) -> tensor<?x35xbf16>
  %y = linalg.matmul ins(%part, %w : tensor<?x64xbf16>, tensor<64x35xbf16>) outs(%init : tensor<?x35xbf16>) -> tensor<?x35xbf16>
  %norm = resid.rms_norm %part {epsilon = 1.0e-5} : tensor<?x64xbf16>
  %put = tensor.insert_slice %norm into %cache[%j, 0, 0] [1, %m, 64] [1, 1, 1] : tensor<?x64xbf16> into tensor<3x?x64xbf16>
  return %y, %put : tensor<?x35xbf16>, tensor<3x?x64xbf16>
}

// An element at a place in an array, and loops of insertions that begin there and end there.
func.func @elements(%x: tensor<12xf32>, %at: tensor<3xindex>, %v: tensor<4xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = tensor.extract %at[%c0] : tensor<3xindex>
  %e = tensor.extract %v[%c2] : tensor<4xf32>
  %square = arith.mulf %e, %e : f32
  %y = tensor.insert %square into %x[%i] : tensor<12xf32>
  %low = tensor.extract %at[%c1] : tensor<3xindex>
  %high = tensor.extract %at[%c2] : tensor<3xindex>
  %z = scf.for %k = %low to %high step %c1 iter_args(%carried = %x) -> tensor<12xf32> {
    %before = tensor.extract %carried[%k] : tensor<12xf32>
    %sum = arith.addf %before, %square : f32
    %next = tensor.insert %sum into %carried[%k] : tensor<12xf32>
    scf.yield %next : tensor<12xf32>
  }
  return %y, %z : tensor<12xf32>, tensor<12xf32>
}

// Shapes in an array, made of scalars, and of one open size that the elements tell.
func.func @shapes(%x: tensor<?x6xf32>, %shape: tensor<2xindex>, %flat: tensor<1xi32>, %whole: tensor<2xi64>)
    -> (tensor<?x3xf32>, tensor<?xf32>, tensor<4x15xf32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?x6xf32>
  %y = tensor.reshape %x(%shape) : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x3xf32>
  %z = tensor.reshape %x(%flat) : (tensor<?x6xf32>, tensor<1xi32>) -> tensor<?xf32>
  %known = tensor.reshape %x(%whole) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<4x15xf32>
  %three = arith.constant 3 : index
  %twice = arith.muli %m, %c2 : index
  %open = tensor.from_elements %twice, %three : tensor<2xindex>
  %w = tensor.reshape %x(%open) : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %squares = arith.mulf %w, %w : tensor<?x?xf32>
  %six = arith.constant 6 : index
  %back = tensor.from_elements %m, %six : tensor<2xindex>
  %v = tensor.reshape %squares(%back) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x6xf32>
  return %y, %z, %known, %v : tensor<?x3xf32>, tensor<?xf32>, tensor<4x15xf32>, tensor<?x6xf32>
}

// A slice whose size is an argument.
func.func @sized(%t: tensor<50x8xf32>, %at: tensor<1xi64>, %n: index) -> (tensor<8xf32>, tensor<50x8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %w = tensor.extract %at[%c0] : tensor<1xi64>
  %i = arith.index_cast %w : i64 to index
  %y = tensor.extract_slice %t[%i, 0] [%n, 8] [1, 1] : tensor<50x8xf32> to tensor<?x8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.reduce { arith.maximumf } ins(%y : tensor<?x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %z = tensor.insert_slice %y into %t[%c0, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<50x8xf32>
  return %r, %z : tensor<8xf32>, tensor<50x8xf32>
}

// The row of a table at which a vector is largest, times that.
func.func @found(%x: tensor<7xf32>, %t: tensor<7x64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %least = arith.constant -1.0e30 : f32
  %best, %where = scf.for %i = %c0 to %c7 step %c1 iter_args(%b = %least, %w = %c0) -> (f32, index) {
    %v = tensor.extract %x[%i] : tensor<7xf32>
    %l = arith.cmpf ogt, %v, %b : f32
    %nb = arith.select %l, %v, %b : f32
    %nw = arith.select %l, %i, %w : index
    scf.yield %nb, %nw : f32, index
  }
  %row = tensor.extract_slice %t[%where, 0] [1, 64] [1, 1] : tensor<7x64xf32> to tensor<64xf32>
  %y = tensor.splat %best : tensor<64xf32>
  %z = arith.mulf %row, %y : tensor<64xf32>
  return %z : tensor<64xf32>
}

// Shapes that are computed from sizes, in vectors; of scalars.
func.func @known(%x: tensor<?x6xf32>) -> tensor<?x3x2xf32> {
  %shape = arith.constant dense<[4, 9]> : tensor<2xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x6xf32>
  %a = tensor.reshape %x(%shape) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %b = arith.mulf %a, %a : tensor<?x?xf32>
  %six = arith.constant 6 : index
  %s0 = tensor.from_elements %m, %six : tensor<2xindex>
  %s1 = arith.index_cast %s0 : tensor<2xindex> to tensor<2xi64>
  %two = arith.constant dense<1> : tensor<2xi64>
  %s2 = arith.muli %s1, %two : tensor<2xi64>
  %c = tensor.reshape %b(%s2) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %e = arith.constant dense<[1, 3, 2]> : tensor<3xindex>
  %s3 = tensor.insert %m into %e[%c0] : tensor<3xindex>
  %d = tensor.reshape %c(%s3) : (tensor<?x?xf32>, tensor<3xindex>) -> tensor<?x3x2xf32>
  return %d : tensor<?x3x2xf32>
}

func.func @scalar(%x: tensor<?x?xf32>, %s: tensor<0xindex>, %t: tensor<2xindex>) -> (tensor<f32>, tensor<1x1xf32>) {
  %y = tensor.reshape %x(%s) : (tensor<?x?xf32>, tensor<0xindex>) -> tensor<f32>
  %z = tensor.reshape %y(%t) : (tensor<f32>, tensor<2xindex>) -> tensor<1x1xf32>
  return %y, %z : tensor<f32>, tensor<1x1xf32>
}

// A number that is a kernel's scalar and the place of a slice.
func.func @seeded(%x: tensor<3x64xf32>, %seeds: tensor<4xi64>) -> (tensor<2x64xf32>, tensor<3x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %seeds[%c0] : tensor<4xi64>
  %d = resid.dropout %x seed(%n, %n) {p = 0.25, site = 1} : tensor<3x64xf32>
  %i = arith.index_cast %n : i64 to index
  %s = tensor.extract_slice %d[%i, 0] [2, 64] [1, 1] : tensor<3x64xf32> to tensor<2x64xf32>
  return %s, %d : tensor<2x64xf32>, tensor<3x64xf32>
}

// One that is such a place after it was widened.
func.func @widened(%x: tensor<64xf32>, %at: tensor<4xi64>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %at[%c0] : tensor<4xi64>
  %i = arith.index_cast %n : i64 to index
  %e = tensor.extract %x[%i] : tensor<64xf32>
  %y = tensor.from_elements %e : tensor<f32>
  return %y : tensor<f32>
}
