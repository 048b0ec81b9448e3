// What a region reads from outside may be inexact, and so is what it makes then.
// REQUIRES: resid-run
// RUN: for entry in turns made sums; do for seed in 1 2 3; do resid-run %s --entry=$entry --arg=f32[9x8]=random:$seed --check || exit 1; done; done

func.func @turns(%x: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %t = math.tanh %x : tensor<9x8xf32>
  %e = tensor.empty() : tensor<9x8xf32>
  %r = scf.forall (%i) in (9) shared_outs(%o = %e) -> (tensor<9x8xf32>) {
    %s = tensor.extract_slice %t[%i, 0] [1, 8] [1, 1] : tensor<9x8xf32> to tensor<1x8xf32>
    %m = arith.mulf %s, %s : tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %m into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<9x8xf32>
    }
  }
  return %r : tensor<9x8xf32>
}

func.func @made(%x: tensor<9x8xf32>) -> tensor<8x9xf32> {
  %t = math.tanh %x : tensor<9x8xf32>
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %t[%j, %i] : tensor<9x8xf32>
    %b = arith.mulf %a, %a : f32
    tensor.yield %b : f32
  } : tensor<8x9xf32>
  return %r : tensor<8x9xf32>
}

func.func @sums(%x: tensor<9x8xf32>) -> tensor<8xf32> {
  %t = math.tanh %x : tensor<9x8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c) -> (c)>], iterator_types = ["parallel"]} outs(%zero : tensor<8xf32>) {
  ^bb0(%sum: f32):
    %c = linalg.index 0 : index
    %a = tensor.extract %t[%c, %c] : tensor<9x8xf32>
    %next = arith.addf %sum, %a : f32
    linalg.yield %next : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
