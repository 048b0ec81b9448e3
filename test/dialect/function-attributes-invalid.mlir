// RUN: resid-opt %s -split-input-file -verify-diagnostics
// The attributes of resid on arguments and results of functions; those that fit are in the first function.

func.func @fits(%x: tensor<4x4xf32> {resid.name = "x", resid.strided}, %w: tensor<2x3x?xi8> {resid.strided, resid.prepared = 0 : i64},
                %m: memref<?x4xf32> {resid.strided}) -> (tensor<4x4xf32> {resid.strided}, memref<?x4xf32>) {
  return %x, %m : tensor<4x4xf32>, memref<?x4xf32>
}
func.func private @declared(tensor<4x4xf32> {resid.strided}) -> (tensor<4x4xf32> {resid.strided})
func.func @weights(%w: tensor<4x4xf32> {resid.weight}, %b: tensor<?xbf16> {resid.weight = "layer.0.bias"}, %m: memref<4xf32> {resid.weight}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.strided' on a tensor of two or more dimensions only, but argument 1 has type 'tensor<4xf32>'}}
func.func @vector(%x: tensor<4x4xf32> {resid.strided}, %y: tensor<4xf32> {resid.strided}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.strided' on a tensor of two or more dimensions only, but argument 0 has type 'i64'}}
func.func @scalar(%x: i64 {resid.strided}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.strided' on a tensor of two or more dimensions only, but argument 0 has type 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<*xf32> {resid.strided}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.strided' on a tensor of two or more dimensions only, but argument 0 has type 'vector<4x4xf32>'}}
func.func private @declared(vector<4x4xf32> {resid.strided})

// -----

// expected-error @+1 {{expected 'resid.strided' on a tensor of two or more dimensions only, but result 0 has type 'tensor<f32>'}}
func.func @result(%x: tensor<f32>) -> (tensor<f32> {resid.strided}) {
  return %x : tensor<f32>
}

// -----

// expected-error @+1 {{expected 'resid.strided' without a value on argument 0, but got 8 : i64}}
func.func @value(%x: tensor<4x4xf32> {resid.strided = 8}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.strided' without a value on result 1, but got "rows"}}
func.func @result_value(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32> {resid.strided = "rows"}) {
  return %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// expected-error @+1 {{expected 'resid.name' of argument 0 to be a string, but got 1 : i64}}
func.func @name(%x: tensor<4xf32> {resid.name = 1}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.prepared' of argument 0 to be a number of type i64, but got 0 : i32}}
func.func @prepared(%x: tensor<4xf32> {resid.prepared = 0 : i32}) {
  return
}

// -----

// A word that is misspelled would else be left unread.
// expected-error @+1 {{expected 'resid.name', 'resid.strided' or 'resid.weight' on argument 0, but got 'resid.stride', which resid does not know}}
func.func @misspelled(%x: tensor<4x4xf32> {resid.stride}) {
  return
}

// -----

// expected-error @+1 {{expected no attribute of resid other than 'resid.strided' on result 0, but got 'resid.name'}}
func.func @result_name(%x: tensor<4xf32>) -> (tensor<4xf32> {resid.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'resid.strided' on an argument or a result of a function, but it stands on 'func.func'}}
func.func @function(%x: tensor<4x4xf32>) attributes {resid.strided} {
  return
}

// -----

func.func @op(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expected 'resid.name' on an argument of a function, but it stands on 'resid.add'}}
  %y = resid.add %x, %x {resid.name = "y"} : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

func.func @misspelled(%x: tensor<4x8xf32>,
                      // expected-error @+1 {{expected 'resid.name', 'resid.strided' or 'resid.weight' on argument 1, but got 'resid.stridded', which resid does not know; did you mean 'resid.strided'?}}
                      %y: tensor<4x8xf32> {resid.stridded}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.weight' on a tensor only, but argument 1 has type 'f32'}}
func.func @weight_scalar(%w: tensor<4xf32> {resid.weight}, %s: f32 {resid.weight = "scale"}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.weight' on a tensor only, but argument 0 has type 'tensor<*xf32>'}}
func.func @weight_unranked(%w: tensor<*xf32> {resid.weight}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.weight' of argument 0 to be a name in checkpoints (a string that is neither empty nor has zero bytes), or to have no value, but got 3 : i64}}
func.func @weight_number(%w: tensor<4xf32> {resid.weight = 3}) {
  return
}

// -----

// expected-error @+1 {{expected 'resid.weight' of argument 0 to be a name in checkpoints (a string that is neither empty nor has zero bytes), or to have no value, but got ""}}
func.func @weight_without_name(%w: tensor<4xf32> {resid.weight = ""}) {
  return
}

// -----

// expected-error @+1 {{or to have no value, but got "a\00b"}}
func.func @weight_zero_byte(%w: tensor<4xf32> {resid.weight = "a\00b"}) {
  return
}

// -----

// expected-error @+1 {{expected no attribute of resid other than 'resid.strided' on result 0, but got 'resid.weight'}}
func.func @weight_result(%x: tensor<4xf32>) -> (tensor<4xf32> {resid.weight}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected 'resid.weight' on an argument of a function, but it stands on 'func.func'}}
func.func @weight_function(%x: tensor<4xf32>) attributes {resid.weight} {
  return
}
