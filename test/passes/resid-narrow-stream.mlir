// Several streams to one, where something asks for their sizes between the sub-layers.
// RUN: resid-opt %s -resid-widen-stream="streams=1 report" 2>&1 | FileCheck %s

// CHECK: remark: converted streams=2 to streams=1 (exact)
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>
// CHECK: %[[COPIES:.*]] = linalg.broadcast
// CHECK-NEXT: %[[Y:.*]] = resid.block none %[[X]] : tensor<?x8xf32> {
// CHECK: %[[ROWS:.*]] = tensor.dim %[[COPIES]]
// CHECK: return %[[Y]], %[[ROWS]]
func.func @sizes(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, index) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%size) : tensor<?x2x8xf32>
  %copies = linalg.broadcast ins(%x : tensor<?x8xf32>) outs(%empty : tensor<?x2x8xf32>) dimensions = [1]
  %y = resid.block none %copies streams() {read_scale = 0.5} : tensor<?x2x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.tanh %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  %rows = tensor.dim %y, %c0 : tensor<?x2x8xf32>
  %u = resid.read %y {scale = 0.5} : tensor<?x2x8xf32>
  return %u, %rows : tensor<?x8xf32>, index
}
