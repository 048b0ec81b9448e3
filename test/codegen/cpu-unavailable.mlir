// What would need a library is an error that names the operation.
// RUN: resid-opt %s --resid-lower-to-cpu --split-input-file --verify-diagnostics

func.func @sine_and_cosine(%x: f64) -> f64 {
  // expected-error @below {{'math.sincos' op on 'f64' is not available on any target}}
  %y, %z = math.sincos %x : f64
  return %y : f64
}

// -----

func.func @power(%x: i32) -> i32 {
  // expected-error @below {{'math.ipowi' op on 'i32' is not available on any target}}
  %y = math.ipowi %x, %x : i32
  return %y : i32
}

// -----

// expected-error @below {{expected code that needs no library, but it calls 'malloc'}}
module {
func.func @temporary(%n: index, %v: f32, %i: index) -> f32 {
  %m = memref.alloc(%n) : memref<?xf32>
  memref.store %v, %m[%i] : memref<?xf32>
  %y = memref.load %m[%i] : memref<?xf32>
  return %y : f32
}
}

// -----

func.func @left_over(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is not available on CPU targets: expected an op that has a form in machine code}}
  %y = tensor.empty() : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The operation is named, not the casts around it.
func.func @of_another_kind(%x: memref<4xf32>, %n: index) {
  // expected-error @below {{'linalg.softmax' op is not available on CPU targets: expected an op that has a form in machine code}}
  linalg.softmax dimension(0) ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
