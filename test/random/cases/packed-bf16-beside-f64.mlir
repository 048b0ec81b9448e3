// resid-random-programs --seed=3001801 --programs=1 --compile-every=1
// compiled @main: before the rewrites: exit code 70 internal error in the compiler
// intrinsic call returns <8 x i1> but "llvm.x86.avx512.fpclass.ps.512" actually returns <16 x i1>
// LLVM Translation failed for operation: llvm.call_intrinsic
// could not be translated to LLVM IR
// passes:
// entry: main --arg=f64[4x15]=random:576619 --arg=f64[15]=random:671797 --arg=f64[15]=random:891080 --arg=f64[15]=random:679205 --arg=f16[15]=random:955629 --arg=f64[15]=random:51403
module {
  func.func @main(%arg0: tensor<4x15xf64> {resid.name = "a0"}, %arg1: tensor<15xf64> {resid.name = "a1"}, %arg2: tensor<15xf64> {resid.name = "a2"}, %arg3: tensor<15xf64> {resid.name = "a3"}, %arg4: tensor<15xf16> {resid.name = "a4"}, %arg5: tensor<15xf64> {resid.name = "a5"}) -> tensor<4x15xf64> {
    %0 = resid.block peri %arg0 norm(rms gamma %arg1 : tensor<15xf64> beta %arg2 : tensor<15xf64> epsilon = 9.9999999999999995E-7 zero_centered_gamma) norm(rms gamma %arg3 : tensor<15xf64> beta %arg1 : tensor<15xf64> epsilon = 1.000000e-03) : tensor<4x15xf64> {
    ^bb0(%arg6: tensor<4x15xbf16>):
      %2 = math.tanh %arg6 : tensor<4x15xbf16>
      %3 = resid.add_bias %2, %arg4 : tensor<4x15xbf16>, tensor<15xf16>
      %4 = math.erf %3 : tensor<4x15xbf16>
      %5 = arith.extf %4 : tensor<4x15xbf16> to tensor<4x15xf64>
      resid.yield %5 : tensor<4x15xf64>
    }
    %1 = resid.block peri %0 norm(rms gamma %arg5 : tensor<15xf64> beta %arg1 : tensor<15xf64> epsilon = 1.000000e-01) norm(rms gamma %arg1 : tensor<15xf64> beta %arg1 : tensor<15xf64> epsilon = 1.000000e-05) : tensor<4x15xf64> {
    ^bb0(%arg6: tensor<4x15xf64>):
      %2 = math.erf %arg6 : tensor<4x15xf64>
      resid.yield %2 : tensor<4x15xf64>
    }
    return %1 : tensor<4x15xf64>
  }
}
