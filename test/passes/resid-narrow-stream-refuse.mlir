// Stacks on several streams that do not get one stream again, each with its reason.
// RUN: resid-opt %s -resid-widen-stream="streams=1" --split-input-file --verify-diagnostics -o /dev/null

func.func @one_stream(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{not converted: expected sub-layers on several streams, but got one on one stream}}
  %a = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x8xf32>
}

// -----

func.func @mixes(%x: tensor<4x2x8xf32>, %c: tensor<2x2xf32>) -> tensor<4x2x8xf32> {
  // expected-error @+1 {{not converted: expected a connection that does not mix, but got a mix of 'tensor<2x2xf32>'}}
  %a = resid.block none %x streams(mix %c : tensor<2x2xf32>) {read_scale = 0.5} : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x2x8xf32>
}

// -----

func.func @weights_of_rows(%x: tensor<4x2x8xf32>, %a: tensor<4x2x1xf32>) -> tensor<4x2x8xf32> {
  // expected-error @+1 {{not converted: expected a static connection, whose weights are constants or arguments of 2x1, but got weights of 'tensor<4x2x1xf32>'}}
  %y = resid.block none %x streams(read %a : tensor<4x2x1xf32>) : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %y : tensor<4x2x8xf32>
}

// -----

func.func @sum_of_streams(%x: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
  // expected-error @+1 {{not converted: expected weights of the read that sum to 1, but got none for 2 streams}}
  %y = resid.block none %x streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %y : tensor<4x2x8xf32>
}

// -----

func.func @constant_weights(%x: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
  %w = arith.constant dense<[[1.0], [0.5]]> : tensor<2x1xf32>
  // expected-error @+1 {{not converted: expected weights of the write that are 1, but got others}}
  %y = resid.block none %x streams(write %w : tensor<2x1xf32>) {read_scale = 0.5} : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %y : tensor<4x2x8xf32>
}

// -----

func.func @other_entry(%x: tensor<4x2x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{not converted: expected streams that begin as copies of one (linalg.broadcast), but got others}}
  %y = resid.block none %x streams() {read_scale = 0.5} : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  %u = resid.read %y {scale = 0.5} : tensor<4x2x8xf32>
  return %u : tensor<4x8xf32>
}

// -----

func.func @reader_between(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %empty = tensor.empty() : tensor<4x2x8xf32>
  %copies = linalg.broadcast ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x2x8xf32>) dimensions = [1]
  // expected-note @+1 {{it reads the stream after this}}
  %y = resid.block none %copies streams() {read_scale = 0.5} : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  // expected-error @+1 {{not converted: expected no other reader of the stream between sub-layers, but got resid.read}}
  %tap = resid.read %y {scale = 0.5} : tensor<4x2x8xf32>
  %z = resid.block none %y streams() {read_scale = 0.5} : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  %u = resid.read %z {scale = 0.5} : tensor<4x2x8xf32>
  return %u, %tap : tensor<4x8xf32>, tensor<4x8xf32>
}
