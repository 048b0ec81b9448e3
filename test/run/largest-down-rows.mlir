// The largest and the least number of each column, for several columns at a time: the last rows count too.
// REQUIRES: resid-run
// RUN: for cpu in native x86-64-v2 %if x86-64-v3 %{ x86-64-v3 %} %if x86-64-v4 %{ x86-64-v4 %}; do for seed in 1 2 3 4; do \
// RUN:   resid-run %s --mcpu=$cpu --entry=ends --arg=f32[5x14]=random:$seed --check && \
// RUN:   resid-run %s --mcpu=$cpu --entry=ends_of_f64 --arg=f64[7x33]=random:$seed --check && \
// RUN:   resid-run %s --mcpu=$cpu --entry=softmax "--arg=f32[6x14]=random:$seed*300" --check || exit 1; done; done

func.func @ends(%x: tensor<5x14xf32>) -> (tensor<14xf32>, tensor<14xf32>) {
  %e = tensor.empty() : tensor<14xf32>
  %low = arith.constant -1.0e30 : f32
  %high = arith.constant 1.0e30 : f32
  %a = linalg.fill ins(%low : f32) outs(%e : tensor<14xf32>) -> tensor<14xf32>
  %b = linalg.fill ins(%high : f32) outs(%e : tensor<14xf32>) -> tensor<14xf32>
  %largest = linalg.reduce {arith.maxnumf} ins(%x : tensor<5x14xf32>) outs(%a : tensor<14xf32>) dimensions = [0]
  %least = linalg.reduce {arith.minnumf} ins(%x : tensor<5x14xf32>) outs(%b : tensor<14xf32>) dimensions = [0]
  return %largest, %least : tensor<14xf32>, tensor<14xf32>
}

func.func @ends_of_f64(%x: tensor<7x33xf64>) -> (tensor<33xf64>, tensor<33xf64>) {
  %e = tensor.empty() : tensor<33xf64>
  %low = arith.constant -1.0e30 : f64
  %high = arith.constant 1.0e30 : f64
  %a = linalg.fill ins(%low : f64) outs(%e : tensor<33xf64>) -> tensor<33xf64>
  %b = linalg.fill ins(%high : f64) outs(%e : tensor<33xf64>) -> tensor<33xf64>
  %largest = linalg.reduce {arith.maxnumf} ins(%x : tensor<7x33xf64>) outs(%a : tensor<33xf64>) dimensions = [0]
  %least = linalg.reduce {arith.minnumf} ins(%x : tensor<7x33xf64>) outs(%b : tensor<33xf64>) dimensions = [0]
  return %largest, %least : tensor<33xf64>, tensor<33xf64>
}

func.func @softmax(%x: tensor<6x14xf32>) -> tensor<6x14xf32> {
  %e = tensor.empty() : tensor<6x14xf32>
  %y = linalg.softmax dimension(0) ins(%x : tensor<6x14xf32>) outs(%e : tensor<6x14xf32>) -> tensor<6x14xf32>
  return %y : tensor<6x14xf32>
}
