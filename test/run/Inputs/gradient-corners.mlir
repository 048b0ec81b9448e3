// Functions with corners, and functions whose exponential overflows, as importers write them.
func.func @sigmoid(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %one = arith.constant 1.0 : f32
    %n = arith.negf %a : f32
    %e = math.exp %n : f32
    %b = arith.addf %one, %e : f32
    %r = arith.divf %one, %b : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

func.func @quick_gelu(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %one = arith.constant 1.0 : f32
    %factor = arith.constant -1.75 : f32
    %n = arith.mulf %a, %factor : f32
    %e = math.exp %n : f32
    %b = arith.addf %e, %one : f32
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

func.func @softplus(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %beta = arith.constant 2.0 : f32
    %threshold = arith.constant 20.0 : f32
    %s = arith.mulf %a, %beta : f32
    %e = math.exp %s : f32
    %l = math.log1p %e : f32
    %c = arith.cmpf ogt, %s, %threshold : f32
    %d = arith.divf %l, %beta : f32
    %r = arith.select %c, %a, %d : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

func.func @log_sigmoid(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %threshold = arith.constant 30.0 : f32
    %n = arith.negf %a : f32
    %e = math.exp %n : f32
    %l = math.log1p %e : f32
    %c = arith.cmpf ogt, %n, %threshold : f32
    %s = arith.select %c, %n, %l : f32
    %r = arith.negf %s : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

func.func @power_0(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %zero = arith.constant 0.0 : f32
    %p = math.powf %a, %zero : f32
    %r = arith.addf %p, %a : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

// The exponent is 0, and the compiler does not know it.
func.func @power_open(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %d = arith.subf %a, %a : f32
    %s = math.floor %d : f32
    %r = math.powf %a, %s : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

func.func @bounded(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %low = arith.constant -1.0 : f32
    %high = arith.constant 6.0 : f32
    %m = arith.maximumf %a, %low : f32
    %r = arith.minimumf %high, %m : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

// Of x and -x, which are equal at 0.
func.func @larger(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %n = arith.negf %a : f32
    %r = arith.maximumf %a, %n : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

func.func @absolute(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.absf %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @relu(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.activation relu %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// 0/x, whose gradient is 0 also where 1/x is infinite.
func.func @quotient(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %zero = arith.constant 0.0 : f32
    %r = arith.divf %zero, %a : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

// The length of (x, x, 0), with 0 apart.
func.func @norm(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %q, %q : f32
    %c = arith.cmpf oeq, %t, %zero : f32
    %s = arith.select %c, %one, %t : f32
    %w = math.sqrt %s : f32
    %r = arith.select %c, %t, %w : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

func.func @angle(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %c = arith.constant 1.0e-30 : f32
    %r = math.atan2 %a, %c : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}

func.func @angle_0(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) (%a: f32, %o: f32) {
    %c = arith.constant 0.0 : f32
    %r = math.atan2 %a, %c : f32
    linalg.yield %r : f32
  }
  return %y : tensor<?xf32>
}
