// RUN: resid-opt %s --resid-grad="function=f" 2>&1 | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: resid-opt %s --resid-grad="function=f save=all" 2>&1 | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: resid-opt %s --resid-grad="function=f save=min" 2>&1 | FileCheck %s --check-prefixes=CHECK,MIN

// What the forward saves: the normalised value is read by the second norm's rule; calls are taken apart first, and the
// callee stays as it is. A remark says how many bytes are saved.
// DEFAULT: remark: saves 2 values for 'f_backward': 8·? bytes
// ALL: remark: saves 3 values for 'f_backward': 40·? bytes
// MIN: remark: saves 0 values for 'f_backward': 0 bytes
// CHECK-LABEL: func.func @f(
// CHECK-COUNT-2: call @norm
// CHECK-LABEL: func.func @f_forward(
// CHECK-NOT: call
// CHECK: %[[Y:.+]], %[[RY:.+]] = resid.rms_norm
// CHECK: %{{.+}}, %[[RZ:.+]] = resid.rms_norm %[[Y]]
// DEFAULT: return %{{[^ ]+}}, %[[RY]], %[[RZ]] :
// ALL: return %{{[^ ]+}}, %[[Y]], %[[RY]], %[[RZ]] :
// MIN: return %{{[^ ]+}} :

// The default computes the normalised value from its argument; min computes statistics, too.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xf32>, %[[GAMMA:[^:]+]]: tensor<8xf32>,
// DEFAULT-SAME: %{{.+}}: tensor<?xf32> {resid.name = "saved0"}, %[[RSTD:.+]]: tensor<?xf32> {resid.name = "saved1"}, %{{.+}} {resid.name = "d_out0"}
// ALL-SAME: %[[AGAIN:[^ ]+]]: tensor<?x8xf32> {resid.name = "saved0"}, %{{.+}}: tensor<?xf32> {resid.name = "saved1"}, %[[RSTD:.+]]: tensor<?xf32> {resid.name = "saved2"}, %{{.+}} {resid.name = "d_out0"}
// MIN-NOT: saved0
// DEFAULT-NEXT: %[[AGAIN:.+]] = resid.rms_norm %[[X]] gamma(%[[GAMMA]]) {epsilon = 1.000000e-05 : f64} : tensor<?x8xf32>, tensor<8xf32>{{$}}
// MIN: %[[AGAIN:.+]], %{{.+}} = resid.rms_norm %[[X]]
// MIN: %{{.+}}, %[[RSTD:.+]] = resid.rms_norm %[[AGAIN]]
// CHECK: resid.rms_norm_grad %{{.+}}, %[[AGAIN]] statistics(%[[RSTD]]) gamma(%[[GAMMA]])
// CHECK: arith.addi
// CHECK: resid.dropout
func.func @f(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %two = arith.constant 2 : i64
  %later = arith.addi %step, %two : i64
  %y = call @norm(%x, %gamma) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %d = resid.dropout %y seed(%seed, %later) {p = 0.5, site = 0} : tensor<?x8xf32>
  %s = resid.add %d, %y : tensor<?x8xf32>
  %z = call @norm(%y, %gamma) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r = resid.add %s, %z : tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

func.func private @norm(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}
