// RUN: resid-opt %s -resid-rotate-pre-norm | FileCheck %s
// RUN: resid-opt %s -resid-rotate-pre-norm -resid-fuse-add-norm | FileCheck %s --check-prefix=FUSED
// RUN: resid-opt %s -resid-rotate-pre-norm -o %t.once
// RUN: resid-opt %t.once -resid-rotate-pre-norm="report=true" -o %t.twice 2>&1 | FileCheck %s --allow-empty --check-prefix=TWICE
// RUN: diff %t.once %t.twice
// RUN: resid-opt %s -resid-rotate-pre-norm="report=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// Which ops go to the front, with whose parameters. That the values stay is tested in rotated-loops.test; what is refused, in
// resid-rotate-pre-norm-refuse.mlir.

// REMARK: remark: rotated (bit-exact): the residual add of one iteration meets the norm of the next
// A rotated loop begins with the add, and needs no reason to stay.
// TWICE-NOT: remark

// One sub-layer: bias, dropout, gate and add of the iteration before, then norm and branch of this one.
// CHECK-LABEL: func.func @one_sub_layer(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>, %[[GS:[^:]*]]: tensor<16x8xf32>, %[[WS:[^:]*]]: tensor<16x8xf32>, %[[B:[^:]*]]: tensor<8xf32>, %[[S:[^:]*]]: i64, %[[T:[^:]*]]: i64
func.func @one_sub_layer(%x: tensor<?x8xf32>, %gammas: tensor<16x8xf32>, %gates: tensor<16x8xf32>, %bias: tensor<8xf32>,
                         %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c12 = arith.constant 12 : index
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
  // CHECK-DAG: %[[C12:.*]] = arith.constant 12 : index
  // CHECK: %[[G0:.*]] = tensor.extract_slice %[[GS]][%[[C2]], 0]
  // CHECK: %[[H0:.*]] = resid.rms_norm %[[X]] gamma(%[[G0]])
  // CHECK-NEXT: %[[F0:.*]] = call @branch(%[[H0]])
  // CHECK-NEXT: %[[C5:.*]] = arith.constant 5 : index
  // CHECK-NEXT: %[[R:.*]]:2 = scf.for %[[I:.*]] = %[[C5]] to %[[C12]] step %[[C3]] iter_args(%[[SKIP:.*]] = %[[X]], %[[F:.*]] = %[[F0]])
  // CHECK-NEXT: %[[PREVIOUS:.*]] = arith.subi %[[I]], %[[C3]]
  // CHECK-NEXT: %[[W:.*]] = tensor.extract_slice %[[WS]][%[[PREVIOUS]], 0]
  // CHECK-NEXT: %[[L:.*]] = arith.index_cast %[[PREVIOUS]]
  // CHECK-NEXT: %[[BF:.*]] = resid.add_bias %[[F]], %[[B]]
  // CHECK-NEXT: %[[D:.*]] = resid.dropout %[[BF]] seed(%[[S]], %[[T]]) origin(%[[L]], %[[L]], %[[L]]) extent(%[[L]], %[[L]]) {{.*}}site = 4
  // CHECK-NEXT: %[[SUM:.*]] = resid.add %[[SKIP]], %[[D]] gate(%[[W]]) {branch_scale = 5.000000e-01 : f64}
  // CHECK-NEXT: %[[G:.*]] = tensor.extract_slice %[[GS]][%[[I]], 0]
  // CHECK-NEXT: %[[H:.*]] = resid.rms_norm %[[SUM]] gamma(%[[G]])
  // CHECK-NEXT: %[[NEXT:.*]] = func.call @branch(%[[H]])
  // CHECK-NEXT: scf.yield %[[SUM]], %[[NEXT]]
  // CHECK-NEXT: } {layers}
  // The last iteration is 11.
  // CHECK: %[[C11:.*]] = arith.constant 11 : index
  // CHECK-NEXT: %[[W11:.*]] = tensor.extract_slice %[[WS]][%[[C11]], 0]
  // CHECK-NEXT: %[[L11:.*]] = arith.index_cast %[[C11]]
  // CHECK-NEXT: %[[B11:.*]] = resid.add_bias %[[R]]#1, %[[B]]
  // CHECK-NEXT: %[[D11:.*]] = resid.dropout %[[B11]] seed(%[[S]], %[[T]]) origin(%[[L11]], %[[L11]], %[[L11]]) extent(%[[L11]], %[[L11]])
  // CHECK-NEXT: %[[Y:.*]] = resid.add %[[R]]#0, %[[D11]] gate(%[[W11]])
  // CHECK-NEXT: return %[[Y]]
  // FUSED-LABEL: func.func @one_sub_layer(
  // FUSED: scf.for
  // FUSED: resid.add_norm rms {{.*}} bias({{.*}} dropout({{.*}} origin({{.*}} gate({{.*}} gamma(
  // FUSED: scf.yield
  %y = scf.for %i = %c2 to %c12 step %c3 iter_args(%s = %x) -> (tensor<?x8xf32>) {
    %gamma = tensor.extract_slice %gammas[%i, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<8xf32>
    %gate = tensor.extract_slice %gates[%i, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<8xf32>
    %layer = arith.index_cast %i : index to i64
    %h = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
    %f = func.call @branch(%h) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %b = resid.add_bias %f, %bias : tensor<?x8xf32>, tensor<8xf32>
    %d = resid.dropout %b seed(%seed, %step) origin(%layer, %layer, %layer) extent(%layer, %layer) {p = 0.5, site = 4} : tensor<?x8xf32>
    %t = resid.add %s, %d gate(%gate) {branch_scale = 0.5} : tensor<?x8xf32>, tensor<8xf32>
    scf.yield %t : tensor<?x8xf32>
  } {layers}
  return %y : tensor<?x8xf32>
}
func.func private @branch(tensor<?x8xf32>) -> tensor<?x8xf32>

// Two sub-layers: the second add meets the first norm, the first add stays with the second norm. The sites go with their adds.
// CHECK-LABEL: func.func @two_sub_layers(
// CHECK: call @branch
// CHECK: resid.dropout {{.*}}site = 1
// CHECK: resid.layer_norm
// CHECK: call @branch
// CHECK-NOT: resid.dropout
// CHECK: scf.for {{.*}} iter_args(%[[SKIP:.*]] = %{{.*}}, %[[F:.*]] = %{{.*}})
// CHECK-NEXT: %[[D2:.*]] = resid.dropout %[[F]] {{.*}}site = 2
// CHECK-NEXT: %[[SUM:.*]] = resid.add %[[SKIP]], %[[D2]]
// CHECK-NEXT: %[[H1:.*]] = resid.rms_norm %[[SUM]]
// CHECK-NEXT: %[[F1:.*]] = func.call @branch(%[[H1]])
// CHECK-NEXT: %[[D1:.*]] = resid.dropout %[[F1]] {{.*}}site = 1
// CHECK-NEXT: %[[MIDDLE:.*]] = resid.add %[[SUM]], %[[D1]]
// CHECK-NEXT: %[[H2:.*]] = resid.layer_norm %[[MIDDLE]]
// CHECK-NEXT: %[[F2:.*]] = func.call @branch(%[[H2]])
// CHECK-NEXT: scf.yield %[[MIDDLE]], %[[F2]]
// CHECK: resid.dropout {{.*}}site = 2
// CHECK-NEXT: resid.add
// CHECK-NEXT: return
// FUSED-LABEL: func.func @two_sub_layers(
// FUSED: scf.for
// FUSED-NEXT: resid.add_norm rms {{.*}}site = 2
// FUSED-NEXT: call
// FUSED-NEXT: resid.add_norm layer {{.*}}site = 1
// FUSED-NEXT: call
// FUSED-NEXT: scf.yield
func.func @two_sub_layers(%x: tensor<?x8xf32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<?x8xf32>) {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
    %f = func.call @branch(%h) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %d = resid.dropout %f seed(%seed, %step) {p = 0.5, site = 1} : tensor<?x8xf32>
    %t = resid.add %s, %d : tensor<?x8xf32>
    %h2 = resid.layer_norm %t {epsilon = 1.0e-5} : tensor<?x8xf32>
    %f2 = func.call @branch(%h2) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %d2 = resid.dropout %f2 seed(%seed, %step) {p = 0.5, site = 2} : tensor<?x8xf32>
    %t2 = resid.add %t, %d2 : tensor<?x8xf32>
    scf.yield %t2 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// Bounds that are known by their ranges alone, an unsigned counter of i32, and another carried value before the stream.
// CHECK-LABEL: func.func @open_bounds(
// CHECK-SAME: %{{[^:]*}}: tensor<2x8xf32>, %[[M:[^:]*]]: tensor<2x8xf32>, %[[END:[^:]*]]: i32, %[[STEP:[^:]*]]: i32
// CHECK: %[[UPPER:.*]] = arith.maxui
// CHECK: %[[H0:.*]] = resid.rms_norm
// CHECK-NEXT: %[[N0:.*]] = arith.addf %[[M]], %[[H0]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.addi %[[STEP]], %[[LOWER:.*]] : i32
// CHECK-NEXT: %[[R:.*]]:3 = scf.for unsigned %{{.*}} = %[[SECOND]] to %[[UPPER]] step %[[STEP]] iter_args(%[[N:.*]] = %[[N0]], %[[SKIP:.*]] = %{{.*}}, %[[F:.*]] = %[[N0]])
// CHECK-NEXT: arith.subi
// CHECK: arith.index_castui
// CHECK: %[[SUM:.*]] = resid.add %[[SKIP]], %[[F]] gate(
// CHECK-NEXT: %[[H:.*]] = resid.rms_norm %[[SUM]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[N]], %[[H]]
// CHECK-NEXT: scf.yield %[[NEXT]], %[[SUM]], %[[NEXT]]
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[UPPER]], %[[LOWER]]
// CHECK-NEXT: %[[BELOW:.*]] = arith.subi %[[DISTANCE]]
// CHECK-NEXT: %[[COUNT:.*]] = arith.divui %[[BELOW]], %[[STEP]]
// CHECK-NEXT: %[[ALL:.*]] = arith.muli %[[COUNT]], %[[STEP]]
// CHECK-NEXT: arith.addi %[[ALL]], %[[LOWER]]
// CHECK: %[[Y:.*]] = resid.add %[[R]]#1, %[[R]]#2 gate(
// CHECK-NEXT: return %[[Y]], %[[R]]#0
func.func @open_bounds(%x: tensor<2x8xf32>, %memory: tensor<2x8xf32>, %end: i32, %step: i32, %gates: tensor<16x8xf32>)
    -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %upper = arith.maxui %end, %c4 : i32
  %m, %y = scf.for unsigned %i = %c3 to %upper step %step iter_args(%n = %memory, %s = %x) -> (tensor<2x8xf32>, tensor<2x8xf32>) : i32 {
    %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %next = arith.addf %n, %h : tensor<2x8xf32>
    %k = arith.index_castui %i : i32 to index
    %gate = tensor.extract_slice %gates[%k, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<8xf32>
    %t = resid.add %s, %next gate(%gate) : tensor<2x8xf32>, tensor<8xf32>
    scf.yield %next, %t : tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %y, %m : tensor<2x8xf32>, tensor<2x8xf32>
}

// The gate depends on the stream, and the branch is narrow: the gate is carried too, and the branch before it is widened.
// CHECK-LABEL: func.func @carried_gate_narrow_branch(
// CHECK: scf.for {{.*}} iter_args(%[[SKIP:.*]] = %{{.*}}, %[[F:.*]] = %{{.*}}, %[[GATE:.*]] = %{{.*}}) -> (tensor<2x8xf32>, tensor<2x8xbf16>, tensor<2x8xf32>)
// CHECK-NEXT: %[[E:.*]] = arith.extf %[[F]]
// CHECK-NEXT: %[[SUM:.*]] = resid.add %[[SKIP]], %[[E]] gate(%[[GATE]])
// CHECK-NEXT: resid.layer_norm %[[SUM]]
func.func @carried_gate_narrow_branch(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %h = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %gate = math.tanh %h : tensor<2x8xf32>
    %f = arith.truncf %h : tensor<2x8xf32> to tensor<2x8xbf16>
    %e = arith.extf %f : tensor<2x8xbf16> to tensor<2x8xf32>
    %t = resid.add %s, %e gate(%gate) : tensor<2x8xf32>, tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// What both halves need stands in both, each with its iteration's number.
// CHECK-LABEL: func.func @shared_parameter(
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK-NEXT: %[[PREVIOUS:.*]] = arith.subi %[[I]]
// CHECK-NEXT: %[[GATE:.*]] = tensor.extract_slice %{{.*}}[%[[PREVIOUS]], 0]
// CHECK-NEXT: %[[SUM:.*]] = resid.add {{.*}} gate(%[[GATE]])
// CHECK-NEXT: %[[GAMMA:.*]] = tensor.extract_slice %{{.*}}[%[[I]], 0]
// CHECK-NEXT: resid.rms_norm %[[SUM]] gamma(%[[GAMMA]])
func.func @shared_parameter(%x: tensor<2x8xf32>, %parameters: tensor<6x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %p = tensor.extract_slice %parameters[%i, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<8xf32>
    %h = resid.rms_norm %s gamma(%p) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
    %f = math.absf %h : tensor<2x8xf32>
    %t = resid.add %s, %f gate(%p) : tensor<2x8xf32>, tensor<8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// The inner loop is rotated first; then its last add ends the outer iteration, and its first norm begins it.
// CHECK-LABEL: func.func @nested(
// CHECK: resid.rms_norm
// CHECK: scf.for
// CHECK-NEXT: resid.add
// CHECK-NEXT: resid.rms_norm
// CHECK: scf.yield
// CHECK: scf.for {{.*}} iter_args(
// CHECK-NEXT: %[[SUM:.*]] = resid.add
// CHECK-NEXT: %[[H:.*]] = resid.rms_norm %[[SUM]]
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK-NEXT: resid.add
// CHECK-NEXT: resid.rms_norm
// CHECK: scf.yield
// CHECK: scf.yield %[[R]]#0, %[[R]]#1
// CHECK: resid.add
// CHECK-NEXT: return
func.func @nested(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %y = scf.for %k = %c0 to %c6 step %c1 iter_args(%r = %x) -> (tensor<2x8xf32>) {
    %z = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %r) -> (tensor<2x8xf32>) {
      %h = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
      %f = math.absf %h : tensor<2x8xf32>
      %t = resid.add %s, %f : tensor<2x8xf32>
      scf.yield %t : tensor<2x8xf32>
    }
    scf.yield %z : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// A loop that carries no stream stays, and needs no reason.
// CHECK-LABEL: func.func @no_stream(
// CHECK-NEXT: arith.constant
// CHECK-NEXT: scf.for
// CHECK-NEXT: math.absf
func.func @no_stream(%x: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c1 to %n step %c1 iter_args(%s = %x) -> (tensor<2x8xf32>) {
    %t = math.absf %s : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}
