// One small program and more for every op of the dialect, and for what stands beside them. In tensors, capital letters
// are sizes; !T is the element type, !P that of parameters, !W the one that is computed in. "where" says which sizes
// make a program, "static" which are never open. The names of arguments say what they are filled with (sweep.py).

func.func @add(%x: tensor<RxDx!T>, %f: tensor<RxDx!T>, %gate: tensor<Dx!P>) -> (tensor<RxDx!T>, tensor<RxDx!W>) {
  %y = resid.add %x, %f gate(%gate) {branch_scale = 0.5, skip_scale = 1.5} : tensor<RxDx!T>, tensor<Dx!P>
  %z = resid.add %y, %f : tensor<RxDx!T> -> tensor<RxDx!W>
  return %y, %z : tensor<RxDx!T>, tensor<RxDx!W>
}

func.func @add_row_gates(%x: tensor<BxRxDx!T>, %f: tensor<BxRxDx!T>, %a: tensor<BxRx1x!P>, %b: tensor<Bx1x1x!W>, %c: tensor<!P>)
    -> tensor<BxRxDx!T> {
  %0 = resid.add %x, %f gate(%a) : tensor<BxRxDx!T>, tensor<BxRx1x!P>
  %1 = resid.add %0, %f gate(%b) : tensor<BxRxDx!T>, tensor<Bx1x1x!W>
  %2 = resid.add %1, %f gate(%c) : tensor<BxRxDx!T>, tensor<!P>
  return %2 : tensor<BxRxDx!T>
}

func.func @add_of_rank_one(%x: tensor<Dx!T>, %f: tensor<Dx!T>, %gate: tensor<1x!P>) -> tensor<Dx!W> {
  %y = resid.add %x, %f gate(%gate) : tensor<Dx!T>, tensor<1x!P> -> tensor<Dx!W>
  return %y : tensor<Dx!W>
}

func.func @add_bias(%f: tensor<RxDx!T>, %b: tensor<Dx!P>) -> tensor<RxDx!T> {
  %y = resid.add_bias %f, %b : tensor<RxDx!T>, tensor<Dx!P>
  return %y : tensor<RxDx!T>
}

func.func @dropout(%x: tensor<BxRxDx!T>, %seed: i64, %step: i64, %row: i64, %site: i64, %column: i64) -> (tensor<BxRxDx!T>, tensor<BxRxDx!T>) {
  %y = resid.dropout %x seed(%seed, %step) {p = 0.5, site = 3} : tensor<BxRxDx!T>
  %z = resid.dropout %x seed(%seed, %step) origin(%row, %site, %column) {p = 0.5, site = 3} : tensor<BxRxDx!T>
  return %y, %z : tensor<BxRxDx!T>, tensor<BxRxDx!T>
}

func.func @layer_norm(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>, %beta: tensor<Dx!P>)
    -> (tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>, tensor<Rx!W>, tensor<Rx!W>) {
  %y = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>
  %z, %mean, %correction, %rstd = resid.layer_norm %x gamma(%gamma) {epsilon = 1.0e-5, zero_centered_gamma}
      : tensor<RxDx!T>, tensor<Dx!P> -> tensor<RxDx!T>, tensor<Rx!W>, tensor<Rx!W>, tensor<Rx!W>
  return %y, %z, %mean, %correction, %rstd : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>, tensor<Rx!W>, tensor<Rx!W>
}

func.func @layer_norm_of_two(%x: tensor<RxSxDx!W>, %gamma: tensor<SxDx!P>) -> tensor<RxSxDx!T> {
  %y = resid.layer_norm %x gamma(%gamma) {epsilon = 1.0e-5, narrow_affine} : tensor<RxSxDx!W>, tensor<SxDx!P> -> tensor<RxSxDx!T>
  return %y : tensor<RxSxDx!T>
}

func.func @layer_norm_of_a_row(%x: tensor<Dx!T>) -> (tensor<Dx!T>, tensor<!W>, tensor<!W>, tensor<!W>) {
  %y:4 = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<Dx!T> -> tensor<Dx!T>, tensor<!W>, tensor<!W>, tensor<!W>
  return %y#0, %y#1, %y#2, %y#3 : tensor<Dx!T>, tensor<!W>, tensor<!W>, tensor<!W>
}

func.func @rms_norm(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>, %beta: tensor<Dx!P>) -> (tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>) {
  %y = resid.rms_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>
  %z, %rstd = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<RxDx!T> -> tensor<RxDx!T>, tensor<Rx!W>
  return %y, %z, %rstd : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>
}

func.func @rms_norm_of_a_row(%x: tensor<Dx!W>) -> (tensor<Dx!T>, tensor<!W>) {
  %y, %rstd = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<Dx!W> -> tensor<Dx!T>, tensor<!W>
  return %y, %rstd : tensor<Dx!T>, tensor<!W>
}

func.func @l2_norm(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>, %beta: tensor<Dx!P>) -> (tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>) {
  %y = resid.l2_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-12} : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>
  %z, %rstd = resid.l2_norm %x {epsilon = 1.0e-12} : tensor<RxDx!T> -> tensor<RxDx!T>, tensor<Rx!W>
  return %y, %z, %rstd : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>
}

func.func @dyt(%x: tensor<RxDx!T>, %alpha: tensor<!P>, %gamma: tensor<Dx!P>, %beta: tensor<Dx!P>) -> (tensor<RxDx!T>, tensor<RxDx!T>) {
  %y = resid.dyt %x alpha(%alpha) gamma(%gamma) beta(%beta) : tensor<RxDx!T>, tensor<!P>, tensor<Dx!P>, tensor<Dx!P>
  %z = resid.dyt %x alpha(%alpha) : tensor<RxDx!T>, tensor<!P>
  return %y, %z : tensor<RxDx!T>, tensor<RxDx!T>
}

func.func @group_norm_of_one(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>, %beta: tensor<Dx!P>)
    -> (tensor<RxDx!T>, tensor<Rx1x!W>, tensor<Rx1x!W>, tensor<Rx1x!W>) {
  %y:4 = resid.group_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5, groups = 1}
      : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P> -> tensor<RxDx!T>, tensor<Rx1x!W>, tensor<Rx1x!W>, tensor<Rx1x!W>
  return %y#0, %y#1, %y#2, %y#3 : tensor<RxDx!T>, tensor<Rx1x!W>, tensor<Rx1x!W>, tensor<Rx1x!W>
}

// where D % 2 == 0
func.func @group_norm(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>)
    -> (tensor<RxDx!T>, tensor<Rx2x!W>, tensor<Rx2x!W>, tensor<Rx2x!W>) {
  %y:4 = resid.group_norm %x gamma(%gamma) {epsilon = 1.0e-5, groups = 2}
      : tensor<RxDx!T>, tensor<Dx!P> -> tensor<RxDx!T>, tensor<Rx2x!W>, tensor<Rx2x!W>, tensor<Rx2x!W>
  return %y#0, %y#1, %y#2, %y#3 : tensor<RxDx!T>, tensor<Rx2x!W>, tensor<Rx2x!W>, tensor<Rx2x!W>
}

func.func @batch_norm(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>, %beta: tensor<Dx!P>) -> (tensor<RxDx!T>, tensor<Dx!W>, tensor<Dx!W>) {
  %y, %mean, %variance = resid.batch_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
      : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P> -> tensor<RxDx!T>, tensor<Dx!W>, tensor<Dx!W>
  return %y, %mean, %variance : tensor<RxDx!T>, tensor<Dx!W>, tensor<Dx!W>
}

func.func @batch_norm_in_training(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>) -> tensor<RxDx!T> {
  %y = resid.batch_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<RxDx!T>, tensor<Dx!P>
  return %y : tensor<RxDx!T>
}

func.func @batch_norm_of_fixed(%x: tensor<BxRxDx!T>, %mean: tensor<Dx!W>, %variance: tensor<Dx!W>) -> tensor<BxRxDx!T> {
  %y = resid.batch_norm %x statistics(%mean, %variance) {epsilon = 1.0e-5} : tensor<BxRxDx!T>, tensor<Dx!W>
  return %y : tensor<BxRxDx!T>
}

func.func @add_norm(%x: tensor<RxDx!T>, %f: tensor<RxDx!T>, %bias: tensor<Dx!P>, %seed: i64, %step: i64, %gate: tensor<Rx1x!P>,
                    %gamma: tensor<Dx!P>, %beta: tensor<Dx!P>) -> (tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>) {
  %n, %s = resid.add_norm layer %x, %f bias(%bias) dropout(%seed, %step) gate(%gate) gamma(%gamma) beta(%beta)
      {epsilon = 1.0e-5, p = 0.5, site = 7, branch_scale = 2.0} : tensor<RxDx!T>, tensor<Dx!P>, tensor<Rx1x!P>, tensor<Dx!P>, tensor<Dx!P>
  %m, %t, %rstd = resid.add_norm rms %n, %s {epsilon = 1.0e-5} : tensor<RxDx!T> -> tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>
  return %m, %t, %rstd : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>
}

func.func @add_norm_dyt(%x: tensor<RxDx!T>, %f: tensor<RxDx!T>, %alpha: tensor<!P>) -> (tensor<RxDx!T>, tensor<RxDx!W>) {
  %n, %s = resid.add_norm dyt %x, %f alpha(%alpha) : tensor<RxDx!T>, tensor<!P> -> tensor<RxDx!T>, tensor<RxDx!W>
  return %n, %s : tensor<RxDx!T>, tensor<RxDx!W>
}

func.func @block_peri(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>, %alpha: tensor<!P>, %gate: tensor<Dx!P>) -> tensor<RxDx!T> {
  %y = resid.block peri %x norm(rms gamma %gamma : tensor<Dx!P> epsilon = 1.0e-5) norm(dyt alpha %alpha : tensor<!P>)
      gate(%gate : tensor<Dx!P>) : tensor<RxDx!T> {
  ^bb0(%h: tensor<RxDx!T>):
    %f = math.tanh %h : tensor<RxDx!T>
    resid.yield %f : tensor<RxDx!T>
  }
  return %y : tensor<RxDx!T>
}

func.func @block_post(%x: tensor<RxDx!T>, %gamma: tensor<Dx!P>, %beta: tensor<Dx!P>, %w: tensor<DxDx!P>, %seed: i64, %step: i64) -> tensor<RxDx!T> {
  %y = resid.block post %x norm(layer gamma %gamma : tensor<Dx!P> beta %beta : tensor<Dx!P> epsilon = 1.0e-5)
      dropout(0.5, site 3, seed %seed, step %step) {skip_scale = 1.5} : tensor<RxDx!T> {
  ^bb0(%h: tensor<RxDx!T>):
    %f = resid.linear %h, %w : tensor<RxDx!T>, tensor<DxDx!P>
    resid.yield %f : tensor<RxDx!T>
  }
  return %y : tensor<RxDx!T>
}

// static E; where E > 0
func.func @attention(%q: tensor<BxHxRxEx!T>, %k: tensor<BxHxKxEx!T>, %v: tensor<BxHxKxEx!P>) -> (tensor<BxHxRxEx!T>, tensor<BxHxRx!W>, tensor<BxHxRx!W>) {
  %y, %max, %sum = resid.attention %q, %k, %v {causal} : tensor<BxHxRxEx!T>, tensor<BxHxKxEx!T>, tensor<BxHxKxEx!P>
      -> tensor<BxHxRxEx!T>, tensor<BxHxRx!W>, tensor<BxHxRx!W>
  return %y, %max, %sum : tensor<BxHxRxEx!T>, tensor<BxHxRx!W>, tensor<BxHxRx!W>
}

// static E; where E > 0
func.func @attention_in_training(%q: tensor<BxHxRxEx!T>, %k: tensor<BxHxKxEx!T>, %v: tensor<BxHxKxEx!T>) -> tensor<BxHxRxEx!T> {
  %y = resid.attention %q, %k, %v {causal} : tensor<BxHxRxEx!T>, tensor<BxHxKxEx!T>, tensor<BxHxKxEx!T>
  return %y : tensor<BxHxRxEx!T>
}

// static E; where E > 0
func.func @attention_masked(%q: tensor<Bx2xRxEx!T>, %k: tensor<Bx1xKxEx!T>, %v: tensor<Bx1xKxEx!T>, %mask: tensor<RxKxi1>, %seed: i64, %step: i64)
    -> tensor<Bx2xRxEx!T> {
  %y = resid.attention %q, %k, %v mask(%mask) dropout(%seed, %step) {p = 0.5, site = 3}
      : tensor<Bx2xRxEx!T>, tensor<Bx1xKxEx!T>, tensor<Bx1xKxEx!T>, tensor<RxKxi1>
  return %y : tensor<Bx2xRxEx!T>
}

// static E; where E > 0 and R <= K
func.func @attention_cached(%q: tensor<1xHxRxEx!T>, %k: tensor<1xHxKxEx!T>, %v: tensor<1xHxKxEx!T>, %mask: tensor<1xRxKx!P>, %past: i64)
    -> tensor<1xHxRxEx!T> {
  %y = resid.attention %q, %k, %v mask(%mask) past(%past) {causal}
      : tensor<1xHxRxEx!T>, tensor<1xHxKxEx!T>, tensor<1xHxKxEx!T>, tensor<1xRxKx!P>
  return %y : tensor<1xHxRxEx!T>
}

// where S <= K
func.func @append(%cache: tensor<BxHxKxDx!T>, %x: tensor<BxHxSxDx!T>, %past: i64) -> tensor<BxHxKxDx!T> {
  %y = resid.append %cache, %x past(%past) : tensor<BxHxKxDx!T>, tensor<BxHxSxDx!T>
  return %y : tensor<BxHxKxDx!T>
}

func.func @activation(%x: tensor<RxDx!T>, %up: tensor<RxDx!T>)
    -> (tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>) {
  %0 = resid.activation relu %x : tensor<RxDx!T>
  %1 = resid.activation gelu %x : tensor<RxDx!T>
  %2 = resid.activation gelu_tanh %x : tensor<RxDx!T>
  %3 = resid.activation silu %x : tensor<RxDx!T>
  %4 = resid.activation swiglu %x, %up : tensor<RxDx!T>
  %5 = resid.activation geglu %x, %up : tensor<RxDx!T>
  %6 = resid.activation geglu_tanh %x, %up : tensor<RxDx!T>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDx!T>
}

func.func @linear(%x: tensor<RxDx!T>, %w: tensor<MxDx!P>, %b: tensor<Mx!P>) -> tensor<RxMx!T> {
  %y = resid.linear %x, %w bias(%b) : tensor<RxDx!T>, tensor<MxDx!P>, tensor<Mx!P>
  return %y : tensor<RxMx!T>
}

func.func @linear_transposed(%x: tensor<BxRxDx!T>, %w: tensor<DxMx!P>) -> (tensor<BxRxMx!T>, tensor<BxRxMx!W>) {
  %y = resid.linear %x, %w {transposed} : tensor<BxRxDx!T>, tensor<DxMx!P>
  %z = resid.linear %x, %w {transposed} : tensor<BxRxDx!T>, tensor<DxMx!P> -> tensor<BxRxMx!W>
  return %y, %z : tensor<BxRxMx!T>, tensor<BxRxMx!W>
}

func.func @linear_of_a_row(%x: tensor<Dx!T>, %w: tensor<MxDx!P>) -> tensor<Mx!T> {
  %y = resid.linear %x, %w : tensor<Dx!T>, tensor<MxDx!P>
  return %y : tensor<Mx!T>
}

// A layer between what comes before and after it, which may become one kernel.
func.func @linear_in_a_branch(%x: tensor<RxDx!T>, %w: tensor<MxDx!T>, %b: tensor<Mx!T>, %v: tensor<DxMx!T>, %gamma: tensor<Dx!P>) -> tensor<RxDx!T> {
  %0 = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<RxDx!T>, tensor<Dx!P>
  %1 = resid.linear %0, %w bias(%b) : tensor<RxDx!T>, tensor<MxDx!T>, tensor<Mx!T>
  %2 = resid.activation silu %1 : tensor<RxMx!T>
  %3 = resid.linear %2, %v : tensor<RxMx!T>, tensor<DxMx!T>
  %4 = resid.add %x, %3 : tensor<RxDx!T>
  return %4 : tensor<RxDx!T>
}

// static D; where D >= 2
func.func @rotary(%x: tensor<BxHxRxDx!T>, %cos: tensor<Rx1x!P>, %sin: tensor<Rx1x!P>) -> tensor<BxHxRxDx!T> {
  %y = resid.rotary %x cos(%cos) sin(%sin) : tensor<BxHxRxDx!T>, tensor<Rx1x!P>, tensor<Rx1x!P>
  return %y : tensor<BxHxRxDx!T>
}

// static D, S; where D >= 8 and R <= S
func.func @rotary_interleaved(%x: tensor<RxDx!T>, %cos: tensor<Sx4x!P>, %sin: tensor<Sx4x!P>, %past: i64) -> tensor<RxDx!T> {
  %y = resid.rotary %x cos(%cos) sin(%sin) offset(%past) {interleaved} : tensor<RxDx!T>, tensor<Sx4x!P>, tensor<Sx4x!P>
  return %y : tensor<RxDx!T>
}

// where V > 0 or R == 0
func.func @cross_entropy(%x: tensor<RxVx!T>, %labels: tensor<Rxi64>) -> (tensor<Rx!W>, tensor<Rx!W>) {
  %loss, %logsumexp = resid.cross_entropy %x labels(%labels) : tensor<RxVx!T>, tensor<Rxi64> -> tensor<Rx!W>, tensor<Rx!W>
  return %loss, %logsumexp : tensor<Rx!W>, tensor<Rx!W>
}

// where V > 0 or R == 0
func.func @cross_entropy_in_training(%x: tensor<RxVx!T>, %labels: tensor<Rxi32>) -> tensor<Rx!W> {
  %loss = resid.cross_entropy %x labels(%labels) {ignore_index = 3} : tensor<RxVx!T>, tensor<Rxi32>
  return %loss : tensor<Rx!W>
}

func.func @cross_entropy_ignored(%x: tensor<RxVx!T>, %ignored: tensor<Rxi32>) -> (tensor<Rx!W>, tensor<Rx!W>) {
  %loss, %logsumexp = resid.cross_entropy %x labels(%ignored) {ignore_index = -100} : tensor<RxVx!T>, tensor<Rxi32> -> tensor<Rx!W>, tensor<Rx!W>
  return %loss, %logsumexp : tensor<Rx!W>, tensor<Rx!W>
}

func.func @cross_entropy_of_a_row(%x: tensor<Vx!T>, %ignored: tensor<i64>) -> tensor<!W> {
  %loss = resid.cross_entropy %x labels(%ignored) {ignore_index = -100} : tensor<Vx!T>, tensor<i64>
  return %loss : tensor<!W>
}

// where V > 0 or R == 0
func.func @cross_entropy_grad(%dy: tensor<Rx!W>, %x: tensor<RxVx!T>, %labels: tensor<Rxi64>, %l: tensor<Rx!W>) -> tensor<RxVx!T> {
  %dx = resid.cross_entropy_grad %dy, %x labels(%labels) logsumexp(%l) : tensor<RxVx!T>, tensor<Rxi64>
  return %dx : tensor<RxVx!T>
}

// where V > 0 or R == 0
func.func @embedding(%ids: tensor<Rxi64>, %table: tensor<VxDx!T>) -> tensor<RxDx!T> {
  %y = resid.embedding %ids, %table : tensor<Rxi64>, tensor<VxDx!T>
  return %y : tensor<RxDx!T>
}

// where V > 0 or R == 0
func.func @embedding_grad(%dy: tensor<RxDx!T>, %ids: tensor<Rxi32>, %table: tensor<VxDx!T>) -> tensor<VxDx!T> {
  %y = resid.embedding_grad %dy, %ids like(%table) : tensor<Rxi32>, tensor<VxDx!T>
  return %y : tensor<VxDx!T>
}

func.func @read(%x: tensor<RxSx3xDx!T>, %u: tensor<3x1x!P>, %v: tensor<3xDx!P>, %w: tensor<RxSx3x1x!P>)
    -> (tensor<RxSxDx!T>, tensor<RxSxDx!T>, tensor<RxSxDx!W>) {
  %0 = resid.read %x weights(%u) {scale = 0.5} : tensor<RxSx3xDx!T>, tensor<3x1x!P>
  %1 = resid.read %x weights(%v) : tensor<RxSx3xDx!T>, tensor<3xDx!P>
  %2 = resid.read %x weights(%w) : tensor<RxSx3xDx!T>, tensor<RxSx3x1x!P> -> tensor<RxSxDx!W>
  return %0, %1, %2 : tensor<RxSxDx!T>, tensor<RxSxDx!T>, tensor<RxSxDx!W>
}

func.func @write(%x: tensor<Rx2xDx!T>, %y: tensor<RxDx!T>, %u: tensor<Rx2xDx!P>, %v: tensor<2x1x!P>, %m: tensor<Rx2x2x!P>, %o: tensor<2x2x!P>)
    -> (tensor<Rx2xDx!T>, tensor<Rx2xDx!W>, tensor<Rx2xDx!T>) {
  %0 = resid.write %x, %y weights(%u) mix(%m) {transposed} : tensor<Rx2xDx!T>, tensor<Rx2xDx!P>, tensor<Rx2x2x!P>
  %1 = resid.write %x, %y weights(%v) mix(%o) : tensor<Rx2xDx!T>, tensor<2x1x!P>, tensor<2x2x!P> -> tensor<Rx2xDx!W>
  %2 = resid.write %x, %y mix(%v) : tensor<Rx2xDx!T>, tensor<2x1x!P>
  return %0, %1, %2 : tensor<Rx2xDx!T>, tensor<Rx2xDx!W>, tensor<Rx2xDx!T>
}

func.func @write_of_a_row(%x: tensor<1xDx!T>, %y: tensor<Dx!T>, %m: tensor<1x1x!P>) -> (tensor<1xDx!T>, tensor<1xDx!T>) {
  %0 = resid.write %x, %y mix(%m) : tensor<1xDx!T>, tensor<1x1x!P>
  %1 = resid.write %x mix(%m) : tensor<1xDx!T>, tensor<1x1x!P>
  return %0, %1 : tensor<1xDx!T>, tensor<1xDx!T>
}

func.func @project(%x: tensor<Rx2xDx!T>, %weight: tensor<3xD+Dx!P>) -> (tensor<Rx3x!W>, tensor<Rx!W>) {
  %z, %rstd = resid.project %x, %weight {epsilon = 1.0e-6} : tensor<Rx2xDx!T>, tensor<3xD+Dx!P> -> tensor<Rx3x!W>, tensor<Rx!W>
  return %z, %rstd : tensor<Rx3x!W>, tensor<Rx!W>
}

func.func @sinkhorn(%logits: tensor<RxSx3x3x!W>) -> tensor<RxSx3x3x!W> {
  %0 = resid.sinkhorn %logits {iterations = 3, epsilon = 1.0e-3} : tensor<RxSx3x3x!W>
  return %0 : tensor<RxSx3x3x!W>
}

func.func @sinkhorn_grad(%dmix: tensor<Rx2x2x!W>, %logits: tensor<Rx2x2x!W>) -> tensor<Rx2x2x!W> {
  %0 = resid.sinkhorn_grad %dmix, %logits {iterations = 2, epsilon = 1.0e-3} : tensor<Rx2x2x!W>
  return %0 : tensor<Rx2x2x!W>
}

func.func @stream_dots(%p: tensor<Rx3xDx!T>, %q: tensor<Rx2xDx!P>) -> tensor<Rx3x2x!W> {
  %0 = resid.stream_dots %p, %q : tensor<Rx3xDx!T>, tensor<Rx2xDx!P>
  return %0 : tensor<Rx3x2x!W>
}

func.func @rms_norm_of_streams(%x: tensor<Rx3xDx!T>, %gamma: tensor<3xDx!P>, %beta: tensor<3xDx!P>) -> tensor<Rx3xDx!T> {
  %y = resid.rms_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5, norm_rank = 1} : tensor<Rx3xDx!T>, tensor<3xDx!P>, tensor<3xDx!P>
  return %y : tensor<Rx3xDx!T>
}

func.func @layer_norm_grad(%dy: tensor<RxDx!T>, %x: tensor<RxDx!W>, %mean: tensor<Rx!W>, %c: tensor<Rx!W>, %rstd: tensor<Rx!W>, %gamma: tensor<Dx!P>)
    -> (tensor<RxDx!W>, tensor<Dx!P>, tensor<Dx!P>) {
  %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %c, %rstd) gamma(%gamma) sum(%x)
      : tensor<RxDx!T>, tensor<RxDx!W>, tensor<Rx!W>, tensor<Dx!P>
  return %dx, %dgamma, %dbeta : tensor<RxDx!W>, tensor<Dx!P>, tensor<Dx!P>
}

func.func @layer_norm_grad_of_two(%dy: tensor<RxSxDx!T>, %x: tensor<RxSxDx!T>, %mean: tensor<Rx!W>, %c: tensor<Rx!W>, %rstd: tensor<Rx!W>, %gamma: tensor<SxDx!P>)
    -> (tensor<RxSxDx!T>, tensor<SxDx!P>, tensor<SxDx!P>) {
  %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %c, %rstd) gamma(%gamma)
      : tensor<RxSxDx!T>, tensor<RxSxDx!T>, tensor<Rx!W>, tensor<SxDx!P>
  return %dx, %dgamma, %dbeta : tensor<RxSxDx!T>, tensor<SxDx!P>, tensor<SxDx!P>
}

func.func @l2_norm_grad(%dy: tensor<RxDx!T>, %x: tensor<RxDx!T>, %rstd: tensor<Rx!W>, %gamma: tensor<Dx!T>)
    -> (tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>) {
  %dx, %dgamma, %dbeta = resid.l2_norm_grad %dy, %x statistics(%rstd) gamma(%gamma) {epsilon = 1.0e-12}
      : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>, tensor<Dx!T> -> tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>
  return %dx, %dgamma, %dbeta : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>
}

func.func @add_of_factors(%x: tensor<RxDx!T>, %f: tensor<RxDx!T>, %o: tensor<RxDx!T>, %s: tensor<!P>, %l: tensor<Dx!P>, %r: tensor<Rx1x!P>)
    -> (tensor<RxDx!T>, tensor<RxDx!T>) {
  %y = resid.add %x, %f skip(%s) also(%o scale %l) : tensor<RxDx!T>, tensor<!P>, tensor<Dx!P>
  %z = resid.add %x, %y gate(%l) skip(%r) also(%o) : tensor<RxDx!T>, tensor<Dx!P>, tensor<Rx1x!P>
  return %y, %z : tensor<RxDx!T>, tensor<RxDx!T>
}

func.func @rms_norm_grad(%dy: tensor<RxDx!T>, %x: tensor<RxDx!T>, %rstd: tensor<Rx!W>, %gamma: tensor<Dx!T>)
    -> (tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>) {
  %dx, %dgamma, %dbeta = resid.rms_norm_grad %dy, %x statistics(%rstd) gamma(%gamma)
      : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx!W>, tensor<Dx!T> -> tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>
  return %dx, %dgamma, %dbeta : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>
}

func.func @rms_norm_grad_of_a_row(%dy: tensor<Dx!T>, %x: tensor<Dx!T>, %rstd: tensor<!W>) -> tensor<Dx!T> {
  %dx = resid.rms_norm_grad %dy, %x statistics(%rstd) : tensor<Dx!T>, tensor<Dx!T>, tensor<!W>
  return %dx : tensor<Dx!T>
}

// where D % 2 == 0
func.func @group_norm_grad(%dy: tensor<RxDx!T>, %x: tensor<RxDx!T>, %mean: tensor<Rx2x!W>, %c: tensor<Rx2x!W>, %rstd: tensor<Rx2x!W>, %gamma: tensor<Dx!P>)
    -> (tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>) {
  %dx, %dgamma, %dbeta = resid.group_norm_grad %dy, %x statistics(%mean, %c, %rstd) gamma(%gamma) {groups = 2}
      : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Rx2x!W>, tensor<Dx!P>
  return %dx, %dgamma, %dbeta : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>
}

func.func @batch_norm_grad(%dy: tensor<RxDx!T>, %x: tensor<RxDx!T>, %mean: tensor<Dx!W>, %variance: tensor<Dx!W>, %gamma: tensor<Dx!P>)
    -> (tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>, tensor<RxDx!T>) {
  %dx, %dgamma, %dbeta = resid.batch_norm_grad %dy, %x statistics(%mean, %variance) gamma(%gamma) {epsilon = 1.0e-5}
      : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Dx!W>, tensor<Dx!P>
  %du = resid.batch_norm_grad %dy, %x statistics(%mean, %variance) {epsilon = 1.0e-5, fixed_statistics} : tensor<RxDx!T>, tensor<RxDx!T>, tensor<Dx!W>
  return %dx, %dgamma, %dbeta, %du : tensor<RxDx!T>, tensor<Dx!P>, tensor<Dx!P>, tensor<RxDx!T>
}

func.func @gate_grad(%dy: tensor<RxDx!T>, %f: tensor<RxDx!T>)
    -> (tensor<Dx!P>, tensor<Rx1x!P>, tensor<!P>, tensor<RxDx!P>, tensor<1x1x!P>, tensor<1x!P>) {
  %0 = resid.gate_grad %dy, %f : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<Dx!P>
  %1 = resid.gate_grad %dy, %f {branch_scale = 0.5} : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<Rx1x!P>
  %2 = resid.gate_grad %dy, %f : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<!P>
  %3 = resid.gate_grad %dy, %f : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<RxDx!P>
  %4 = resid.gate_grad %dy, %f {branch_scale = 0.5} : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<1x1x!P>
  %5 = resid.gate_grad %dy, %f : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<1x!P>
  return %0, %1, %2, %3, %4, %5 : tensor<Dx!P>, tensor<Rx1x!P>, tensor<!P>, tensor<RxDx!P>, tensor<1x1x!P>, tensor<1x!P>
}

func.func @gate_grad_of_a_row(%dy: tensor<Dx!W>, %f: tensor<Dx!W>) -> (tensor<Dx!T>, tensor<!T>, tensor<1x!T>) {
  %0 = resid.gate_grad %dy, %f : tensor<Dx!W>, tensor<Dx!W> -> tensor<Dx!T>
  %1 = resid.gate_grad %dy, %f : tensor<Dx!W>, tensor<Dx!W> -> tensor<!T>
  %2 = resid.gate_grad %dy, %f : tensor<Dx!W>, tensor<Dx!W> -> tensor<1x!T>
  return %0, %1, %2 : tensor<Dx!T>, tensor<!T>, tensor<1x!T>
}

func.func @dyt_grad(%dy: tensor<RxDx!T>, %x: tensor<RxDx!W>, %alpha: tensor<!P>, %gamma: tensor<Dx!P>)
    -> (tensor<RxDx!W>, tensor<!P>, tensor<Dx!P>, tensor<Dx!P>, tensor<RxDx!W>, tensor<!T>) {
  %dx, %dalpha, %dgamma, %dbeta = resid.dyt_grad %dy, %x alpha(%alpha) gamma(%gamma) sum(%x)
      : tensor<RxDx!T>, tensor<RxDx!W>, tensor<!P>, tensor<Dx!P>
  %du, %da = resid.dyt_grad %dy, %x alpha(%alpha) : tensor<RxDx!T>, tensor<RxDx!W>, tensor<!P> -> tensor<RxDx!W>, tensor<!T>
  return %dx, %dalpha, %dgamma, %dbeta, %du, %da : tensor<RxDx!W>, tensor<!P>, tensor<Dx!P>, tensor<Dx!P>, tensor<RxDx!W>, tensor<!T>
}

// static E; where E > 0
func.func @attention_grad(%dy: tensor<BxHxRxEx!T>, %q: tensor<BxHxRxEx!T>, %k: tensor<BxHxKxEx!T>, %v: tensor<BxHxKxEx!T>, %max: tensor<BxHxRx!W>, %sum: tensor<BxHxRx!W>)
    -> (tensor<BxHxRxEx!T>, tensor<BxHxKxEx!T>, tensor<BxHxKxEx!T>) {
  %dq, %dk, %dv = resid.attention_grad %dy, %q, %k, %v statistics(%max, %sum) {causal}
      : tensor<BxHxRxEx!T>, tensor<BxHxRxEx!T>, tensor<BxHxKxEx!T>, tensor<BxHxKxEx!T>
  return %dq, %dk, %dv : tensor<BxHxRxEx!T>, tensor<BxHxKxEx!T>, tensor<BxHxKxEx!T>
}

// A norm beside a sum down the rows of the same value.
func.func @norm_and_column_sum(%x: tensor<RxDx!T>, %dy: tensor<RxDx!T>) -> (tensor<RxDx!T>, tensor<Dx!P>) {
  %d = math.tanh %x : tensor<RxDx!T>
  %n = resid.rms_norm %d {epsilon = 1.0e-5} : tensor<RxDx!T>
  %g = resid.gate_grad %dy, %d : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<Dx!P>
  return %n, %g : tensor<RxDx!T>, tensor<Dx!P>
}

// The same with another norm in front, whose result is computed again or kept.
func.func @two_norms_and_column_sums(%x: tensor<RxDx!T>, %dy: tensor<RxDx!T>) -> (tensor<RxDx!T>, tensor<Dx!P>, tensor<!P>) {
  %a = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<RxDx!T>
  %b = resid.activation silu %a : tensor<RxDx!T>
  %n = resid.rms_norm %b {epsilon = 1.0e-5} : tensor<RxDx!T>
  %g = resid.gate_grad %dy, %b : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<Dx!P>
  %s = resid.gate_grad %n, %b : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<!P>
  return %n, %g, %s : tensor<RxDx!T>, tensor<Dx!P>, tensor<!P>
}

// A number of each row in front of a norm.
func.func @row_number_and_norm(%x: tensor<RxDx!T>, %f: tensor<RxDx!T>, %y: tensor<RxDx!T>) -> (tensor<RxDx!T>, tensor<Rx1x!T>) {
  %r = resid.gate_grad %f, %y : tensor<RxDx!T>, tensor<RxDx!T> -> tensor<Rx1x!T>
  %s = resid.add %x, %f gate(%r) : tensor<RxDx!T>, tensor<Rx1x!T>
  %n = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<RxDx!T>
  return %n, %r : tensor<RxDx!T>, tensor<Rx1x!T>
}

func.func @reductions(%x: tensor<RxDx!T>, %rows: tensor<Rx!T>, %columns: tensor<Dx!T>, %all: tensor<!T>)
    -> (tensor<Rx!T>, tensor<Dx!T>, tensor<!T>, tensor<Rx!T>, tensor<Dx!T>) {
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<RxDx!T>) outs(%rows : tensor<Rx!T>) dimensions = [1]
  %1 = linalg.reduce {arith.addf} ins(%x : tensor<RxDx!T>) outs(%columns : tensor<Dx!T>) dimensions = [0]
  %2 = linalg.reduce {arith.addf} ins(%x : tensor<RxDx!T>) outs(%all : tensor<!T>) dimensions = [0, 1]
  %3 = linalg.reduce {arith.maximumf} ins(%x : tensor<RxDx!T>) outs(%rows : tensor<Rx!T>) dimensions = [1]
  %4 = linalg.reduce {arith.maximumf} ins(%x : tensor<RxDx!T>) outs(%columns : tensor<Dx!T>) dimensions = [0]
  return %0, %1, %2, %3, %4 : tensor<Rx!T>, tensor<Dx!T>, tensor<!T>, tensor<Rx!T>, tensor<Dx!T>
}

func.func @products(%a: tensor<RxKx!T>, %b: tensor<KxMx!T>, %c: tensor<RxMx!T>, %v: tensor<Kx!T>, %y: tensor<Rx!T>, %s: tensor<!T>)
    -> (tensor<RxMx!T>, tensor<Rx!T>, tensor<!T>) {
  %0 = linalg.matmul ins(%a, %b : tensor<RxKx!T>, tensor<KxMx!T>) outs(%c : tensor<RxMx!T>) -> tensor<RxMx!T>
  %1 = linalg.matvec ins(%a, %v : tensor<RxKx!T>, tensor<Kx!T>) outs(%y : tensor<Rx!T>) -> tensor<Rx!T>
  %2 = linalg.dot ins(%v, %v : tensor<Kx!T>, tensor<Kx!T>) outs(%s : tensor<!T>) -> tensor<!T>
  return %0, %1, %2 : tensor<RxMx!T>, tensor<Rx!T>, tensor<!T>
}

func.func @batches(%a: tensor<BxRxKx!T>, %b: tensor<BxKxMx!T>, %c: tensor<BxRxMx!W>) -> tensor<BxRxMx!W> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<BxRxKx!T>, tensor<BxKxMx!T>) outs(%c : tensor<BxRxMx!W>) -> tensor<BxRxMx!W>
  return %0 : tensor<BxRxMx!W>
}

func.func @softmax(%x: tensor<RxDx!T>, %y: tensor<RxDx!T>) -> tensor<RxDx!T> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<RxDx!T>) outs(%y : tensor<RxDx!T>) -> tensor<RxDx!T>
  return %0 : tensor<RxDx!T>
}

func.func @joined(%x: tensor<RxDx!T>, %y: tensor<SxDx!T>, %w: tensor<RxEx!T>) -> (tensor<R+SxDx!T>, tensor<RxD+Ex!T>, tensor<R+2xD+1x!T>) {
  %0 = tensor.concat dim(0) %x, %y : (tensor<RxDx!T>, tensor<SxDx!T>) -> tensor<R+SxDx!T>
  %1 = tensor.concat dim(1) %x, %w : (tensor<RxDx!T>, tensor<RxEx!T>) -> tensor<RxD+Ex!T>
  %zero = arith.constant 0.5 : !T
  %2 = tensor.pad %x low[2, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : !T
  } : tensor<RxDx!T> to tensor<R+2xD+1x!T>
  return %0, %1, %2 : tensor<R+SxDx!T>, tensor<RxD+Ex!T>, tensor<R+2xD+1x!T>
}

// A loop whose turns the backward keeps.
func.func @layers(%x: tensor<RxDx!T>) -> tensor<RxDx!T> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %y = scf.for %i = %zero to %three step %one iter_args(%h = %x) -> tensor<RxDx!T> {
    %a = resid.activation silu %h : tensor<RxDx!T>
    %n = resid.rms_norm %a {epsilon = 1.0e-5} : tensor<RxDx!T>
    %s = resid.add %h, %n : tensor<RxDx!T>
    scf.yield %s : tensor<RxDx!T>
  }
  return %y : tensor<RxDx!T>
}

func.func @elementwise(%x: tensor<RxDx!T>, %y: tensor<RxDx!T>, %t: tensor<DxRx!T>) -> (tensor<RxDx!T>, tensor<RxDx!T>, tensor<DxRx!T>) {
  %0 = arith.mulf %x, %y : tensor<RxDx!T>
  %1 = math.exp %0 : tensor<RxDx!T>
  %2 = arith.maximumf %1, %x : tensor<RxDx!T>
  %3 = linalg.transpose ins(%x : tensor<RxDx!T>) outs(%t : tensor<DxRx!T>) permutation = [1, 0]
  return %1, %2, %3 : tensor<RxDx!T>, tensor<RxDx!T>, tensor<DxRx!T>
}

// Numbers beside kernels, which are rounded and widened.
// types f16, bf16
func.func @numbers(%x: tensor<f32>, %y: tensor<1xf32>, %z: tensor<1xf64>, %a: f32, %b: f64, %c: !T)
    -> (tensor<!T>, tensor<1x!T>, tensor<1x!T>, tensor<!T>, tensor<2x!T>, tensor<f64>, tensor<!T>) {
  %0 = arith.truncf %x : tensor<f32> to tensor<!T>
  %1 = arith.truncf %y : tensor<1xf32> to tensor<1x!T>
  %2 = arith.truncf %z : tensor<1xf64> to tensor<1x!T>
  %n = arith.truncf %a : f32 to !T
  %m = arith.truncf %b : f64 to !T
  %p = arith.addf %n, %c : !T
  %q = math.sqrt %c : !T
  %3 = tensor.from_elements %p : tensor<!T>
  %4 = tensor.from_elements %q, %m : tensor<2x!T>
  %5 = arith.extf %0 : tensor<!T> to tensor<f64>
  %e = tensor.extract %0[] : tensor<!T>
  %w = arith.extf %e : !T to f32
  %u = arith.mulf %w, %a : f32
  %v = arith.truncf %u : f32 to !T
  %6 = tensor.from_elements %v : tensor<!T>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<!T>, tensor<1x!T>, tensor<1x!T>, tensor<!T>, tensor<2x!T>, tensor<f64>, tensor<!T>
}

// types f16, bf16
func.func @roundings(%x: tensor<RxDxf32>, %y: tensor<RxDxf64>, %z: tensor<RxDx!T>) -> (tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDxf32>, tensor<RxDxf64>) {
  %0 = arith.truncf %x : tensor<RxDxf32> to tensor<RxDx!T>
  %1 = arith.truncf %y : tensor<RxDxf64> to tensor<RxDx!T>
  %2 = arith.extf %z : tensor<RxDx!T> to tensor<RxDxf32>
  %3 = arith.extf %z : tensor<RxDx!T> to tensor<RxDxf64>
  return %0, %1, %2, %3 : tensor<RxDx!T>, tensor<RxDx!T>, tensor<RxDxf32>, tensor<RxDxf64>
}

// A narrow number that a loop carries, and one that a branch chooses.
// types f16, bf16
func.func @carried(%x: tensor<Dx!T>, %a: f32, %n: index) -> (tensor<Dx!T>, tensor<!T>, tensor<!T>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.truncf %a : f32 to !T
  %y, %s = scf.for %i = %zero to %n step %one iter_args(%h = %x, %c = %start) -> (tensor<Dx!T>, !T) {
    %g = resid.add %h, %x {branch_scale = 0.5} : tensor<Dx!T>
    %w = arith.extf %c : !T to f32
    %t = arith.mulf %w, %a : f32
    %d = arith.truncf %t : f32 to !T
    scf.yield %g, %d : tensor<Dx!T>, !T
  }
  %is = arith.cmpi sgt, %n, %one : index
  %q = scf.if %is -> !T {
    scf.yield %s : !T
  } else {
    %b = arith.addf %a, %a : f32
    %r = arith.truncf %b : f32 to !T
    scf.yield %r : !T
  }
  %0 = tensor.from_elements %s : tensor<!T>
  %1 = tensor.from_elements %q : tensor<!T>
  return %y, %0, %1 : tensor<Dx!T>, tensor<!T>, tensor<!T>
}

// types f32, bf16, f16
func.func @quantize(%x: tensor<RxDx!T>) -> (tensor<RxDxi8>, tensor<Rxf32>, tensor<RxDxi8>, tensor<f32>, tensor<RxDxi8>) {
  %q, %scale = resid.quantize %x {granularity = row} : tensor<RxDx!T>
  %t, %whole = resid.quantize %x {granularity = tensor} : tensor<RxDx!T>
  %u = resid.quantize %x scale(%scale) {granularity = row} : tensor<RxDx!T>, tensor<Rxf32>
  return %q, %scale, %t, %whole, %u : tensor<RxDxi8>, tensor<Rxf32>, tensor<RxDxi8>, tensor<f32>, tensor<RxDxi8>
}

// types f32, bf16, f16
func.func @quantized_norm(%x: tensor<RxDx!T>, %s: tensor<f32>) -> (tensor<RxDxi8>, tensor<Rxf32>, tensor<RxDxi8>, tensor<RxDx!T>) {
  %q, %scale = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<RxDx!T> -> tensor<RxDxi8>, tensor<Rxf32>
  %t, %sum = resid.add_norm layer %x, %x quantize(tensor scale %s : tensor<f32>) {epsilon = 1.0e-5}
      : tensor<RxDx!T> -> tensor<RxDxi8>, tensor<RxDx!T>
  return %q, %scale, %t, %sum : tensor<RxDxi8>, tensor<Rxf32>, tensor<RxDxi8>, tensor<RxDx!T>
}

// types f32, bf16, f16; static D; where D > 0
func.func @quantize_groups(%x: tensor<RxDx!T>, %s: tensor<RxDxf32>) -> (tensor<RxDxi8>, tensor<RxDxf32>, tensor<RxDx!T>) {
  %q, %scale = resid.quantize %x {granularity = group 1} : tensor<RxDx!T>
  %y = resid.dequantize %q scale(%s) {granularity = group 1} : tensor<RxDxi8>, tensor<RxDxf32> -> tensor<RxDx!T>
  return %q, %scale, %y : tensor<RxDxi8>, tensor<RxDxf32>, tensor<RxDx!T>
}

// types f32, bf16, f16
func.func @dequantize(%integers: tensor<RxDxi8>, %r: tensor<Rxf32>, %t: tensor<f32>) -> (tensor<RxDx!T>, tensor<RxDxf32>) {
  %y = resid.dequantize %integers scale(%r) {granularity = row} : tensor<RxDxi8>, tensor<Rxf32> -> tensor<RxDx!T>
  %z = resid.dequantize %integers scale(%t) {granularity = tensor} : tensor<RxDxi8>, tensor<f32>
  return %y, %z : tensor<RxDx!T>, tensor<RxDxf32>
}

// types f32, bf16, f16
func.func @linear_of_integers(%integers: tensor<BxRxDxi8>, %bytes: tensor<MxDxi8>, %r: tensor<BxRxf32>, %s: tensor<Mxf32>, %bias: tensor<Mx!P>)
    -> tensor<BxRxMx!T> {
  %y = resid.linear %integers, %bytes x_scale(%r) weight_scale(%s) bias(%bias)
      : tensor<BxRxDxi8>, tensor<MxDxi8>, tensor<BxRxf32>, tensor<Mxf32>, tensor<Mx!P> -> tensor<BxRxMx!T>
  return %y : tensor<BxRxMx!T>
}
