// RUN: resid-opt %s --resid-prepare-entries=weights-struct --split-input-file --verify-diagnostics
// What a struct of weights cannot have. Without the struct, all of these are fine: resid-run takes such functions.
// RUN: resid-opt %s --resid-prepare-entries --split-input-file | grep -c 'func.func private' | grep -x 5

// expected-error @+1 {{expected a weight of static shape in the struct of weights, but argument 0 has type 'tensor<?x4xf32>'}}
func.func @dynamic(%w: tensor<?x4xf32> {resid.weight}) -> tensor<?x4xf32> {
  return %w : tensor<?x4xf32>
}

// -----

// expected-error @+1 {{expected a weight without 'resid.strided' in the struct of weights, but argument 0 has it}}
func.func @strided(%w: tensor<4x4xf32> {resid.weight, resid.strided}) -> tensor<4x4xf32> {
  return %w : tensor<4x4xf32>
}

// -----

func.func @f(%w: tensor<4xf32> {resid.weight}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
// The struct of @f has this name.
// expected-error @+1 {{expected names that differ, but 'f_weights' is exported for another function too}}
func.func @f_weights(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// A scalar is no member, whoever makes it.
func.func @scalar(%s: f32 {resid.prepared = 0 : i64}) -> tensor<4xf32> {
  %0 = tensor.splat %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}
