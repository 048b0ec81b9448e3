func.func @plain(%q: tensor<2x3x4x8xf64>, %k: tensor<2x3x6x8xf64>, %v: tensor<2x3x6x8xf64>) -> tensor<2x3x4x8xf64> {
  %y:3 = resid.attention %q, %k, %v : tensor<2x3x4x8xf64>, tensor<2x3x6x8xf64>, tensor<2x3x6x8xf64>
         -> tensor<2x3x4x8xf64>, tensor<2x3x4xf64>, tensor<2x3x4xf64>
  return %y#0 : tensor<2x3x4x8xf64>
}

func.func @max(%q: tensor<2x3x4x8xf64>, %k: tensor<2x3x6x8xf64>, %v: tensor<2x3x6x8xf64>) -> tensor<2x3x4xf64> {
  %y:3 = resid.attention %q, %k, %v : tensor<2x3x4x8xf64>, tensor<2x3x6x8xf64>, tensor<2x3x6x8xf64>
         -> tensor<2x3x4x8xf64>, tensor<2x3x4xf64>, tensor<2x3x4xf64>
  return %y#1 : tensor<2x3x4xf64>
}

func.func @sum(%q: tensor<2x3x4x8xf64>, %k: tensor<2x3x6x8xf64>, %v: tensor<2x3x6x8xf64>) -> tensor<2x3x4xf64> {
  %y:3 = resid.attention %q, %k, %v : tensor<2x3x4x8xf64>, tensor<2x3x6x8xf64>, tensor<2x3x6x8xf64>
         -> tensor<2x3x4x8xf64>, tensor<2x3x4xf64>, tensor<2x3x4xf64>
  return %y#2 : tensor<2x3x4xf64>
}

// More than one chunk of keys.
func.func @long(%q: tensor<1x1x2x16xf64>, %k: tensor<1x1x600x16xf64>, %v: tensor<1x1x600x16xf64>, %bias: tensor<2x600xf64>)
    -> tensor<1x1x2x16xf64> {
  %y = resid.attention %q, %k, %v mask(%bias) {scale = 2.0}
       : tensor<1x1x2x16xf64>, tensor<1x1x600x16xf64>, tensor<1x1x600x16xf64>, tensor<2x600xf64>
  return %y : tensor<1x1x2x16xf64>
}

func.func @grouped(%q: tensor<?x6x?x4xf64>, %k: tensor<?x2x?x4xf64>, %v: tensor<?x2x?x4xf64>, %bias: tensor<6x1x1xf64>)
    -> tensor<?x6x?x4xf64> {
  %y = resid.attention %q, %k, %v mask(%bias) {causal}
       : tensor<?x6x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<6x1x1xf64>
  return %y : tensor<?x6x?x4xf64>
}

// Rows of the mask choose some keys, all of them, or none.
func.func @chosen(%q: tensor<1x2x8x4xf64>, %k: tensor<1x2x5x4xf64>, %v: tensor<1x2x5x4xf64>, %draw: tensor<8x5xf64>, %row: tensor<8x1xf64>)
    -> tensor<1x2x8x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<8x5xf64>
  %ones = arith.constant dense<1.0> : tensor<8x5xf64>
  %never = arith.constant dense<[[9.0], [-9.0], [0.0], [9.0], [0.0], [-9.0], [0.0], [0.0]]> : tensor<8x1xf64>
  %full = resid.add %draw, %ones gate(%never) : tensor<8x5xf64>, tensor<8x1xf64>
  %mask = arith.cmpf ogt, %full, %zero : tensor<8x5xf64>
  %y = resid.attention %q, %k, %v mask(%mask)
       : tensor<1x2x8x4xf64>, tensor<1x2x5x4xf64>, tensor<1x2x5x4xf64>, tensor<8x5xi1>
  return %y : tensor<1x2x8x4xf64>
}

// One more key, and then the places after it hold NaN.
func.func @cache(%keys: tensor<1x2x9x4xf64>, %values: tensor<1x2x9x4xf64>, %k: tensor<1x2x1x4xf64>, %v: tensor<1x2x1x4xf64>,
                 %q: tensor<1x4x1x4xf64>, %past: i64) -> tensor<1x4x1x4xf64> {
  %zeros = arith.constant dense<0.0> : tensor<1x2x4x4xf64>
  %nan = arith.divf %zeros, %zeros : tensor<1x2x4x4xf64>
  %some = tensor.insert_slice %nan into %values[0, 0, 5, 0] [1, 2, 4, 4] [1, 1, 1, 1] : tensor<1x2x4x4xf64> into tensor<1x2x9x4xf64>
  %others = tensor.insert_slice %nan into %keys[0, 0, 5, 0] [1, 2, 4, 4] [1, 1, 1, 1] : tensor<1x2x4x4xf64> into tensor<1x2x9x4xf64>
  %a = resid.append %others, %k past(%past) : tensor<1x2x9x4xf64>, tensor<1x2x1x4xf64>
  %b = resid.append %some, %v past(%past) : tensor<1x2x9x4xf64>, tensor<1x2x1x4xf64>
  %y = resid.attention %q, %a, %b past(%past) {causal} : tensor<1x4x1x4xf64>, tensor<1x2x9x4xf64>, tensor<1x2x9x4xf64>
  return %y : tensor<1x4x1x4xf64>
}

// Two queries see all four keys before them and each other, and nothing after these.
func.func @filled(%q: tensor<1x2x2x4xf64>, %k: tensor<1x2x9x4xf64>, %v: tensor<1x2x9x4xf64>, %past: i64) -> tensor<1x2x2x4xf64> {
  %y = resid.attention %q, %k, %v past(%past) : tensor<1x2x2x4xf64>, tensor<1x2x9x4xf64>, tensor<1x2x9x4xf64>
  return %y : tensor<1x2x2x4xf64>
}

// The same weights are dropped, in more than one chunk of keys and for the heads of q.
func.func @dropped(%q: tensor<2x4x3x8xf64>, %k: tensor<2x2x300x8xf64>, %v: tensor<2x2x300x8xf64>, %seed: i64, %step: i64, %row: i64)
    -> tensor<2x4x3x8xf64> {
  %y = resid.attention %q, %k, %v dropout(%seed, %step) origin(%row, %step) {p = 0.4, site = 3}
       : tensor<2x4x3x8xf64>, tensor<2x2x300x8xf64>, tensor<2x2x300x8xf64>
  return %y : tensor<2x4x3x8xf64>
}

// Windows of both kinds, with and without a cache.
func.func @window(%q: tensor<1x2x7x4xf64>, %k: tensor<1x2x7x4xf64>, %v: tensor<1x2x7x4xf64>) -> (tensor<1x2x7x4xf64>, tensor<1x2x7x4xf64>) {
  %y = resid.attention %q, %k, %v {causal, window = 3} : tensor<1x2x7x4xf64>, tensor<1x2x7x4xf64>, tensor<1x2x7x4xf64>
  %z = resid.attention %q, %k, %v {window = 2} : tensor<1x2x7x4xf64>, tensor<1x2x7x4xf64>, tensor<1x2x7x4xf64>
  return %y, %z : tensor<1x2x7x4xf64>, tensor<1x2x7x4xf64>
}

func.func @windowed_cache(%q: tensor<1x2x2x4xf64>, %k: tensor<1x2x9x4xf64>, %v: tensor<1x2x9x4xf64>, %past: i64) -> tensor<1x2x2x4xf64> {
  %y = resid.attention %q, %k, %v past(%past) {window = 3} : tensor<1x2x2x4xf64>, tensor<1x2x9x4xf64>, tensor<1x2x9x4xf64>
  return %y : tensor<1x2x2x4xf64>
}

// A cap, and a sink of each head; rows of the mask leave all keys or none.
func.func @capped(%q: tensor<1x4x3x4xf64>, %k: tensor<1x2x5x4xf64>, %v: tensor<1x2x5x4xf64>, %row: tensor<3x1xf64>, %sink: tensor<4xf32>)
    -> (tensor<1x4x3x4xf64>, tensor<1x4x3xf64>, tensor<1x4x3xf64>) {
  %over = arith.constant dense<[[0.0], [-1.0], [0.0]]> : tensor<3x1xf64>
  %under = arith.constant dense<[[1.0], [0.0], [1.0]]> : tensor<3x1xf64>
  %none = arith.divf %over, %under : tensor<3x1xf64>
  %mask = arith.addf %row, %none : tensor<3x1xf64>
  %y, %max, %sum = resid.attention %q, %k, %v mask(%mask) sink(%sink) {cap = 0.7, causal}
       : tensor<1x4x3x4xf64>, tensor<1x2x5x4xf64>, tensor<1x2x5x4xf64>, tensor<3x1xf64>, tensor<4xf32>
         -> tensor<1x4x3x4xf64>, tensor<1x4x3xf64>, tensor<1x4x3xf64>
  return %y, %max, %sum : tensor<1x4x3x4xf64>, tensor<1x4x3xf64>, tensor<1x4x3xf64>
}

// Two samples whose caches hold other numbers of keys, of which NaN comes after.
func.func @samples(%c: tensor<2x2x9x4xf64>, %k: tensor<2x2x2x4xf64>, %q: tensor<2x4x2x4xf64>) -> (tensor<2x4x2x4xf64>, tensor<2x4x2x4xf64>) {
  %past = arith.constant dense<[4, 0]> : tensor<2xi64>
  %zeros = arith.constant dense<0.0> : tensor<1x2x7x4xf64>
  %nan = arith.divf %zeros, %zeros : tensor<1x2x7x4xf64>
  %some = tensor.insert_slice %nan into %c[1, 0, 2, 0] [1, 2, 7, 4] [1, 1, 1, 1] : tensor<1x2x7x4xf64> into tensor<2x2x9x4xf64>
  %a = resid.append %some, %k past(%past) : tensor<2x2x9x4xf64>, tensor<2x2x2x4xf64>, tensor<2xi64>
  %y = resid.attention %q, %a, %a past(%past) {causal} : tensor<2x4x2x4xf64>, tensor<2x2x9x4xf64>, tensor<2x2x9x4xf64>, tensor<2xi64>
  %z = resid.attention %q, %a, %a past(%past) {window = 2} : tensor<2x4x2x4xf64>, tensor<2x2x9x4xf64>, tensor<2x2x9x4xf64>, tensor<2xi64>
  return %y, %z : tensor<2x4x2x4xf64>, tensor<2x4x2x4xf64>
}

// Three sequences in a pack and padding, whose keys stand in another order.
func.func @pack(%q: tensor<1x4x7x4xf64>, %k: tensor<1x2x8x4xf64>, %v: tensor<1x2x8x4xf64>) -> (tensor<1x4x7x4xf64>, tensor<1x4x7x4xf64>) {
  %a = arith.constant dense<[[5, 5, 5, -1, 2, 2, 9]]> : tensor<1x7xi32>
  %b = arith.constant dense<[[-1, 2, 2, 2, 5, 5, -1, 7]]> : tensor<1x8xi32>
  %y = resid.attention %q, %k, %v segments(%a, %b) {causal}
       : tensor<1x4x7x4xf64>, tensor<1x2x8x4xf64>, tensor<1x2x8x4xf64>, tensor<1x7xi32>, tensor<1x8xi32>
  %z = resid.attention %q, %k, %v segments(%a, %b) {window = 2}
       : tensor<1x4x7x4xf64>, tensor<1x2x8x4xf64>, tensor<1x2x8x4xf64>, tensor<1x7xi32>, tensor<1x8xi32>
  return %y, %z : tensor<1x4x7x4xf64>, tensor<1x4x7x4xf64>
}
