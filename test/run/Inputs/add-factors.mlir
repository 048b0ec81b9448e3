// Adds with a factor on the stream and a second operand, of which TYPE is the element type.

func.func @scalar(%x: tensor<?x70xTYPE>, %f: tensor<?x70xTYPE>, %o: tensor<?x70xTYPE>, %s: tensor<TYPE>, %g: tensor<70xTYPE>,
                  %r: tensor<?x1xTYPE>) -> tensor<?x70xTYPE> {
  %y = resid.add %x, %f skip(%s) also(%o scale %s) : tensor<?x70xTYPE>, tensor<TYPE>, tensor<TYPE>
  %n = resid.rms_norm %y gamma(%g) {epsilon = 1.0e-5} : tensor<?x70xTYPE>, tensor<70xTYPE>
  return %n : tensor<?x70xTYPE>
}

func.func @feature(%x: tensor<?x70xTYPE>, %f: tensor<?x70xTYPE>, %o: tensor<?x70xTYPE>, %s: tensor<TYPE>, %g: tensor<70xTYPE>,
                   %r: tensor<?x1xTYPE>) -> tensor<?x70xTYPE> {
  %y = resid.add %x, %f gate(%s) skip(%g) also(%o scale %g) {branch_scale = 0.3}
      : tensor<?x70xTYPE>, tensor<TYPE>, tensor<70xTYPE>, tensor<70xTYPE>
  return %y : tensor<?x70xTYPE>
}

func.func @row(%x: tensor<?x70xTYPE>, %f: tensor<?x70xTYPE>, %o: tensor<?x70xTYPE>, %s: tensor<TYPE>, %g: tensor<70xTYPE>,
               %r: tensor<?x1xTYPE>) -> tensor<?x70xTYPE> {
  %y = resid.add %x, %f skip(%r) also(%o scale %r) : tensor<?x70xTYPE>, tensor<?x1xTYPE>, tensor<?x1xTYPE>
  return %y : tensor<?x70xTYPE>
}

func.func @full(%x: tensor<?x70xTYPE>, %f: tensor<?x70xTYPE>, %o: tensor<?x70xTYPE>, %s: tensor<TYPE>, %g: tensor<70xTYPE>,
                %r: tensor<?x1xTYPE>) -> tensor<?x70xTYPE> {
  %y = resid.add %x, %f gate(%o) skip(%f) also(%x scale %o)
      : tensor<?x70xTYPE>, tensor<?x70xTYPE>, tensor<?x70xTYPE>, tensor<?x70xTYPE>
  return %y : tensor<?x70xTYPE>
}

func.func @alone(%x: tensor<?x70xTYPE>, %f: tensor<?x70xTYPE>, %o: tensor<?x70xTYPE>, %s: tensor<TYPE>, %g: tensor<70xTYPE>,
                 %r: tensor<?x1xTYPE>) -> tensor<?x70xTYPE> {
  %y = resid.add %x, %f also(%o) {skip_scale = 1.2} : tensor<?x70xTYPE>
  return %y : tensor<?x70xTYPE>
}

func.func @blocks(%x: tensor<?x70xTYPE>, %f: tensor<?x70xTYPE>, %o: tensor<?x70xTYPE>, %s: tensor<TYPE>, %g: tensor<70xTYPE>,
                  %r: tensor<?x1xTYPE>) -> tensor<?x70xTYPE> {
  %y = resid.block pre %x norm(rms gamma %g : tensor<70xTYPE> epsilon = 1.0e-6)
      skip(%s : tensor<TYPE>) also(%o scale %g : tensor<70xTYPE>) : tensor<?x70xTYPE> {
  ^bb0(%h: tensor<?x70xTYPE>):
    %a = math.absf %h : tensor<?x70xTYPE>
    resid.yield %a : tensor<?x70xTYPE>
  }
  %z = resid.block post %y norm(rms gamma %g : tensor<70xTYPE> epsilon = 1.0e-6)
      skip(%g : tensor<70xTYPE>) also(%o) {branch_scale = 0.5} : tensor<?x70xTYPE> {
  ^bb0(%h: tensor<?x70xTYPE>):
    %a = math.absf %h : tensor<?x70xTYPE>
    resid.yield %a : tensor<?x70xTYPE>
  }
  return %z : tensor<?x70xTYPE>
}

func.func @parallel(%x: tensor<?x70xTYPE>, %attention: tensor<?x70xTYPE>, %mlp: tensor<?x70xTYPE>, %g: tensor<70xTYPE>,
                    %h: tensor<70xTYPE>) -> (tensor<?x70xTYPE>, tensor<?x70xTYPE>, tensor<?x70xTYPE>) {
  %y = resid.add %x, %attention also(%mlp) : tensor<?x70xTYPE>
  %n = resid.rms_norm %y gamma(%g) {epsilon = 1.0e-6} : tensor<?x70xTYPE>, tensor<70xTYPE>
  %m = resid.rms_norm %y gamma(%h) {epsilon = 1.0e-6} : tensor<?x70xTYPE>, tensor<70xTYPE>
  return %y, %n, %m : tensor<?x70xTYPE>, tensor<?x70xTYPE>, tensor<?x70xTYPE>
}

func.func @open(%x: tensor<?x70xTYPE>, %f: tensor<?x70xTYPE>, %o: tensor<?x70xTYPE>, %l: tensor<?x1xTYPE>) -> tensor<?x70xTYPE> {
  %y = resid.add %x, %f also(%o scale %l) : tensor<?x70xTYPE>, tensor<?x1xTYPE>
  return %y : tensor<?x70xTYPE>
}

// A second operand that is the stream between two sub-layers, and the stream that entered them.
func.func @stack(%x: tensor<?x70xTYPE>, %g: tensor<70xTYPE>, %s: tensor<TYPE>) -> tensor<?x70xTYPE> {
  %a = resid.block post %x norm(rms gamma %g : tensor<70xTYPE> epsilon = 1.0e-6) skip(%s : tensor<TYPE>) : tensor<?x70xTYPE> {
  ^bb0(%h: tensor<?x70xTYPE>):
    %f = math.absf %h : tensor<?x70xTYPE>
    resid.yield %f : tensor<?x70xTYPE>
  }
  %b = resid.block post %a norm(rms gamma %g : tensor<70xTYPE> epsilon = 1.0e-6) also(%a scale %g : tensor<70xTYPE>) : tensor<?x70xTYPE> {
  ^bb0(%h: tensor<?x70xTYPE>):
    %f = math.absf %h : tensor<?x70xTYPE>
    resid.yield %f : tensor<?x70xTYPE>
  }
  %c = resid.block post %b norm(rms gamma %g : tensor<70xTYPE> epsilon = 1.0e-6) also(%x scale %s : tensor<TYPE>) : tensor<?x70xTYPE> {
  ^bb0(%h: tensor<?x70xTYPE>):
    %f = math.absf %h : tensor<?x70xTYPE>
    resid.yield %f : tensor<?x70xTYPE>
  }
  return %c : tensor<?x70xTYPE>
}
