// A row that is read at other columns, by expressions of the column: by the evaluator and as machine code. Some subtract, some lead
// to one column for several, or past the columns of the result, or to what another step of the row computes.

// RUN: for function in shifted turned wrapped; do for backend in cpu reference; do \
// RUN:   resid-run %s --entry=$function --arg=f32[2x8]=1,2,3,4,5,6,7,8,11,12,13,14,15,16,17,18 --backend=$backend || exit 1; done; \
// RUN:   resid-run %s --entry=$function --arg=f32[2x8]=random:1 --check 2>/dev/null || exit 1; done | FileCheck %s
// CHECK-COUNT-2: first 2 2 4 4 6 6 8 8
// CHECK:         out0: ok, bit-equal
// CHECK-COUNT-2: first 16 14 12 10 8 6 4 2
// CHECK:         out0: ok, bit-equal
// CHECK-COUNT-2: first 8 6 4 2 16 14 12 10
// CHECK:         out0: ok, bit-equal

// RUN: for cpu in native %if x86-64-v3 %{ x86-64-v3 %}; do for function in repeated further doubled halved quartered first; do \
// RUN:   resid-run %s --entry=$function --mcpu=$cpu --check || exit 1; done; done

#row = affine_map<(r, c) -> (r, c)>

func.func @shifted(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, (c - 4) floordiv 2 + 2)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

func.func @turned(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, 7 - c)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

func.func @wrapped(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, (3 - c) mod 8)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

func.func @repeated(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>) {
  %e = tensor.empty() : tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, (c floordiv 7) * 7)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

func.func @further(%x: tensor<2x33xf64>) -> (tensor<2x32xf64>) {
  %e = tensor.empty() : tensor<2x32xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c + 1)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x33xf64>) outs(%e : tensor<2x32xf64>) {
  ^bb0(%a: f64, %o: f64):
    %b = arith.addf %a, %a : f64
    linalg.yield %b : f64
  } -> tensor<2x32xf64>
  return %y : tensor<2x32xf64>
}

func.func @doubled(%x: tensor<2x512xf32>) -> (tensor<2x256xf32>) {
  %e = tensor.empty() : tensor<2x256xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c * 2 + 1)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x512xf32>) outs(%e : tensor<2x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x256xf32>
  return %y : tensor<2x256xf32>
}

func.func @halved(%x: tensor<2x32xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>) {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<2x32xf32>
  %e = tensor.empty() : tensor<2x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c floordiv 2)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<2x32xf32>) outs(%e : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x32xf32>
  return %y, %n : tensor<2x32xf32>, tensor<2x32xf32>
}

func.func @quartered(%x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<2x64xf32>
  %e = tensor.empty() : tensor<2x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c floordiv 4)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<2x64xf32>) outs(%e : tensor<2x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x64xf32>
  return %y, %n : tensor<2x64xf32>, tensor<2x64xf32>
}

// One column for all, by each spelling, and one row for all: rows are larger than what is read of them.
func.func @first(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %y:2 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, 0)>, affine_map<(r, c) -> (r, c mod 1)>, affine_map<(r, c) -> (0, c)>, #row, #row],
                         iterator_types = ["parallel", "parallel"]} ins(%x, %x, %x : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
      outs(%e, %e : tensor<8x4xf32>, tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32, %p: f32):
    %s = arith.subf %a, %c : f32
    linalg.yield %s, %b : f32, f32
  } -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %y#0, %y#1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// Of an open number of columns, a loop reads them.
// RUN: resid-run %s --entry=open '--arg=f32[3x5]=random:1' --check | FileCheck %s --check-prefix=OPEN
// OPEN: out0: ok, bit-equal
func.func @open(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %half = tensor.dim %x, %c1 : tensor<?x?xf32>
  %columns = arith.muli %half, %c2 : index
  %e = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c floordiv 2)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
