// Arithmetic on narrow floats rounds after each operation; conversions keep their roundings whether there is any or not.
// RUN: resid-opt %s --split-input-file --resid-emulate-narrow-floats | FileCheck %s
// RUN: resid-opt %s --split-input-file --resid-emulate-narrow-floats --mlir-print-ir-after-all 2>&1 | grep -c 'ArithEmulate' | FileCheck %s --check-prefix=COUNT
// The upstream passes are run on the second module alone.
// COUNT: {{^1$}}

// CHECK-LABEL: func @conversions
// CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[NARROW]] : bf16 to f32
// CHECK-NEXT: return %[[WIDE]]
func.func @conversions(%x: f32) -> f32 {
  %narrow = arith.truncf %x fastmath<contract> : f32 to bf16
  %wide = arith.extf %narrow fastmath<contract> : bf16 to f32
  return %wide : f32
}

// -----

// CHECK-LABEL: func @arithmetic
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK-NEXT: %[[ROOT:.*]] = math.sqrt %[[WIDE]] : f32
// CHECK-NEXT: %[[RESULT:.*]] = arith.truncf %[[ROOT]] : f32 to bf16
// CHECK-NEXT: return %[[RESULT]]
func.func @arithmetic(%x: bf16, %y: bf16) -> bf16 {
  %sum = arith.addf %x, %y : bf16
  %root = math.sqrt %sum : bf16
  return %root : bf16
}
