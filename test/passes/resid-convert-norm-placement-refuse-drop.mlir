// RUN: resid-opt %s -split-input-file -verify-diagnostics -resid-convert-norm-placement="to=post params=keep"
// What params=keep refuses where the final norm would go.

func.func @final_norm_narrows(%x: tensor<2x8xf32>) -> tensor<2x8xbf16> {
  %y0 = resid.block pre %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected a final norm that keeps the type and whose statistics nobody reads, since placement post drops it, but got resid.rms_norm of type 'tensor<2x8xbf16>'}}
  %y = resid.rms_norm %y0 {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xbf16>
  return %y : tensor<2x8xbf16>
}

// -----

func.func @final_norm_with_statistic(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2xf32>) {
  %y0 = resid.block pre %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected a final norm that keeps the type and whose statistics nobody reads, since placement post drops it, but got resid.rms_norm of type}}
  %y, %rstd = resid.rms_norm %y0 {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  return %y, %rstd : tensor<2x8xf32>, tensor<2xf32>
}

// -----

// A stack in the program before the one that is refused: nothing is written of either.
func.func @raw_stream_read(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // expected-note @+1 {{it reads the stream after this}}
  %y0 = resid.block peri %x norm(rms epsilon = 1.0e-6) norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // expected-error @+1 {{not converted: expected no other reader of the stream between sub-layers, which has another meaning in placement post than in peri, but got math.exp}}
  %head = math.exp %y0 : tensor<2x8xf32>
  %y1 = resid.block peri %y0 norm(rms epsilon = 1.0e-6) norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %head, %y1 : tensor<2x8xf32>, tensor<2x8xf32>
}
