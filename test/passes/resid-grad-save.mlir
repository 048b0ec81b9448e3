// RUN: resid-opt %s --resid-grad="function=f" 2>&1 | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: resid-opt %s --resid-grad="function=f save=all" 2>&1 | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: resid-opt %s --resid-grad="function=f save=min" 2>&1 | FileCheck %s --check-prefixes=CHECK,MIN

// What the forward saves: each op's rule reads the result of the op in front; calls are taken apart first, and the
// callee stays as it is. A remark says how many bytes are saved.
// DEFAULT: remark: saves 5 values for 'f_backward': 32·? bytes
// ALL: remark: saves 10 values for 'f_backward': 192·? bytes
// MIN: remark: saves 0 values for 'f_backward': 0 bytes
// CHECK-LABEL: func.func @f(
// CHECK-COUNT-2: call @norm
// CHECK-LABEL: func.func @f_forward(
// CHECK-NOT: call
// CHECK: %[[Y:.+]], %[[RY:.+]] = resid.rms_norm
// CHECK: %[[Z:.+]], %[[RZ:.+]] = resid.rms_norm %[[Y]]
// CHECK: %[[A:.+]] = resid.activation gelu %[[Z]]
// CHECK: %[[T:.+]] = resid.dyt %[[A]]
// CHECK: %[[G:.+]], %[[M:.+]], %[[C:.+]], %[[RG:.+]] = resid.group_norm %[[T]]
// DEFAULT: return %{{[^ ]+}}, %[[RY]], %[[RZ]], %[[M]], %[[C]], %[[RG]] :
// ALL: return %{{[^ ]+}}, %[[Y]], %[[RY]], %[[Z]], %[[RZ]], %[[A]], %[[T]], %[[G]], %[[M]], %[[C]], %[[RG]] :
// MIN: return %{{[^ ]+}} :

// The default computes the results of norms, activations and dynamic tanh from the argument; min computes statistics,
// too.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xf32>, %[[GAMMA:[^:]+]]: tensor<8xf32>,
// DEFAULT-SAME: %{{.+}}: tensor<?xf32> {resid.name = "saved0"}, %[[RSTD:.+]]: tensor<?xf32> {resid.name = "saved1"}, {{.+}} {resid.name = "saved4"}, %{{.+}} {resid.name = "d_out0"}
// ALL-SAME: %[[AGAIN:[^ ]+]]: tensor<?x8xf32> {resid.name = "saved0"}, %{{.+}}: tensor<?xf32> {resid.name = "saved1"}, %{{[^:]+}}: tensor<?x8xf32> {resid.name = "saved2"}, %[[RSTD:[^:]+]]: tensor<?xf32> {resid.name = "saved3"}, {{.+}} {resid.name = "saved9"}, %{{.+}} {resid.name = "d_out0"}
// MIN-NOT: saved0
// DEFAULT-NEXT: %[[AGAIN:.+]] = resid.rms_norm %[[X]] gamma(%[[GAMMA]]) {epsilon = 1.000000e-05 : f64} : tensor<?x8xf32>, tensor<8xf32>{{$}}
// DEFAULT: %[[Z:.+]] = resid.rms_norm %[[AGAIN]]
// DEFAULT-NEXT: %[[A:.+]] = resid.activation gelu %[[Z]]
// DEFAULT-NEXT: %[[T:.+]] = resid.dyt %[[A]]
// DEFAULT-NEXT: %[[G:.+]] = resid.group_norm %[[T]]
// DEFAULT-NEXT: resid.dyt_grad %{{.+}}, %[[G]]
// MIN: %[[AGAIN:.+]], %{{.+}} = resid.rms_norm %[[X]]
// MIN: %{{.+}}, %[[RSTD:.+]] = resid.rms_norm %[[AGAIN]]
// CHECK: resid.rms_norm_grad %{{.+}}, %[[AGAIN]] statistics(%[[RSTD]]) gamma(%[[GAMMA]])
// CHECK: arith.addi
// CHECK: resid.dropout
func.func @f(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>, %alpha: tensor<f32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %two = arith.constant 2 : i64
  %later = arith.addi %step, %two : i64
  %y = call @norm(%x, %gamma) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %d = resid.dropout %y seed(%seed, %later) {p = 0.5, site = 0} : tensor<?x8xf32>
  %s = resid.add %d, %y : tensor<?x8xf32>
  %z = call @norm(%y, %gamma) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %a = resid.activation gelu %z : tensor<?x8xf32>
  %t = resid.dyt %a alpha(%alpha) : tensor<?x8xf32>, tensor<f32>
  %g = resid.group_norm %t {epsilon = 1.0e-5, groups = 2} : tensor<?x8xf32>
  %q = resid.dyt %g alpha(%alpha) : tensor<?x8xf32>, tensor<f32>
  %r = resid.add %s, %q : tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

func.func private @norm(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}
