// RUN: resid-opt %s -split-input-file -verify-diagnostics -resid-convert-norm-placement="to=peri"
// Where new parameters cannot be made like those of a loop.

func.func @computed_in_loop(%x: tensor<2x8xf32>, %g: tensor<4x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<2x8xf32> {
    %gs = tensor.extract_slice %g[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    // expected-error @+1 {{not converted: expected the norm's parameters in the loop to be slices of stacked ones, like which new ones can be made, but got math.absf}}
    %gi = math.absf %gs : tensor<8xf32>
    %t = resid.block post %s norm(rms gamma %gi : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @carried_by_loop(%x: tensor<2x8xf32>, %g: tensor<8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{not converted: expected the norm's parameters in the loop to be slices of stacked ones, like which new ones can be made, but got a value that the loop carries}}
  %y, %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %gi = %g) -> (tensor<2x8xf32>, tensor<8xf32>) {
    %a = math.absf %gi : tensor<8xf32>
    %t = resid.block post %s norm(rms gamma %gi : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    scf.yield %t, %a : tensor<2x8xf32>, tensor<8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

// The final norm belongs into the outer loop, where the inner one's iteration is not known.
func.func @loop_in_loop(%x: tensor<2x8xf32>, %g: tensor<4x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %x) -> tensor<2x8xf32> {
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<2x8xf32> {
      // expected-error @+1 {{not converted: expected the norm's parameters in the loop to be slices of stacked ones, like which new ones can be made, but got tensor.extract_slice}}
      %gi = tensor.extract_slice %g[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
      %t = resid.block post %s norm(rms gamma %gi : tensor<8xf32> epsilon = 1.0e-6) : tensor<2x8xf32> {
      ^bb0(%h: tensor<2x8xf32>):
        resid.yield %h : tensor<2x8xf32>
      }
      scf.yield %t : tensor<2x8xf32>
    }
    %a = arith.addf %sum, %y : tensor<2x8xf32>
    scf.yield %a : tensor<2x8xf32>
  }
  return %z : tensor<2x8xf32>
}
