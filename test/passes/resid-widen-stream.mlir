// One residual stream to four, and back.
// RUN: resid-opt %s -resid-widen-stream="streams=4 connection=static report" 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: resid-opt %s -resid-widen-stream="streams=3 connection=ihc" | FileCheck %s --check-prefix=IHC
// RUN: resid-opt %s -resid-widen-stream="streams=4 connection=mhc" | FileCheck %s --check-prefix=MHC
// RUN: resid-opt %s -resid-widen-stream="streams=4" -resid-widen-stream="streams=1 report" 2>&1 | FileCheck %s --check-prefix=BACK

// STATIC: remark: converted streams=1 to streams=4 connection=static (bit-exact)
// STATIC: initial = array<f64: 2.500000e-01>, name = "connection_0_read", shape = array<i64: 4, 1>, to = "connection 0"
// STATIC-SAME: name = "head_read"
// STATIC-LABEL: func.func @stack(
// STATIC-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[G:[^:]*]]: tensor<8xf32>, %[[S:[^:]*]]: i64, %[[R0:[^:]*]]: tensor<4x1xf32> {resid.name = "connection_0_read"}, %[[W0:[^:]*]]: tensor<4x1xf32> {resid.name = "connection_0_write"}, %[[R1:[^:]*]]: tensor<4x1xf32> {resid.name = "connection_1_read"}, %[[W1:[^:]*]]: tensor<4x1xf32> {resid.name = "connection_1_write"}, %[[H:[^:]*]]: tensor<4x1xf32> {resid.name = "head_read"})
// STATIC: %[[X0:.*]] = linalg.broadcast ins(%[[X]] : tensor<?x8xf32>) outs(%{{.*}} : tensor<?x4x8xf32>) dimensions = [1]
// STATIC: %[[X1:.*]] = resid.block pre %[[X0]] norm(rms gamma %[[G]] : tensor<8xf32> epsilon = {{.*}}) streams(read %[[R0]] : tensor<4x1xf32>, write %[[W0]] : tensor<4x1xf32>) : tensor<?x4x8xf32> {
// STATIC-NEXT: ^bb0(%{{.*}}: tensor<?x8xf32>):
// STATIC: %[[X2:.*]] = resid.block none %[[X1]] dropout(1.000000e-01, site 2, seed %[[S]], step %[[S]]) streams(read %[[R1]] : tensor<4x1xf32>, write %[[W1]] : tensor<4x1xf32>) {branch_scale = {{.*}}} : tensor<?x4x8xf32> {
// STATIC: %[[U:.*]] = resid.read %[[X2]] weights(%[[H]]) : tensor<?x4x8xf32>, tensor<4x1xf32>
// STATIC: tensor.dim %[[X]]
// STATIC: resid.rms_norm %[[U]]

// A base of logit(1/3 - 1e-6), and one of logit((1 - 1e-6)/2).
// IHC: initial = array<f64: -0.693151{{[^,]*}}, -0.693151{{[^,]*}}, -0.693151{{[^,]*}}, {{-[12][.][0-9]*[Ee]-0?6}}, {{-[12][.][0-9]*[Ee]-0?6}}, {{-[12][.][0-9]*[Ee]-0?6}}>, name = "connection_0_base"
// IHC: %[[Z:.*]] = resid.project %{{.*}}, %{{.*}} {epsilon = {{.*}}} : tensor<?x3x8xf32>, tensor<6x24xf32>
// IHC: resid.block pre {{.*}} streams(read %{{.*}} : tensor<?x3x1xf32>, write %{{.*}} : tensor<?x3x1xf32>) : tensor<?x3x8xf32>

// MHC: resid.project %{{.*}}, %{{.*}} : tensor<?x4x8xf32>, tensor<24x32xf32>
// MHC: %[[C:.*]] = resid.sinkhorn {{.*}}iterations = 20{{.*}} : tensor<?x4x4xf32>
// MHC: resid.block pre {{.*}} streams(read %{{.*}} : tensor<?x4x1xf32>, write %{{.*}} : tensor<?x4x1xf32>, mix %[[C]] : tensor<?x4x4xf32>)
// MHC: resid.project %{{.*}}, %{{.*}} : tensor<?x4x8xf32>, tensor<4x32xf32>

// BACK: remark: converted streams=4 to streams=1 (changes-function)
// BACK: {action = "drop", from = "connection", name = "connection_0_read"}
// BACK-LABEL: func.func @stack(
// BACK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>
// BACK: resid.block pre %[[X]] norm(rms gamma %{{.*}} : tensor<8xf32> epsilon = {{[^)]*}}) : tensor<?x8xf32> {
// BACK-NOT: resid.read
func.func @stack(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %s: i64) -> (tensor<?x8xf32>, index) {
  %a = resid.block pre %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.tanh %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  %b = resid.block none %a dropout(0.1, site 2, seed %s, step %s) {branch_scale = 0.5} : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %f = math.erf %h : tensor<?x8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  %c0 = arith.constant 0 : index
  // The rows of a stream are those of the row that entered.
  %rows = tensor.dim %a, %c0 : tensor<?x8xf32>
  %n = resid.rms_norm %b gamma(%g) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  return %n, %rows : tensor<?x8xf32>, index
}
