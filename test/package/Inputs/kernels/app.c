#include "block.h"
#include "resid_runtime.h"
#include <stdio.h>

int main(void) {
  float x[2 * 8] = {0}, f[2 * 8], y[2 * 8] = {0};
  for (int i = 0; i < 2 * 8; ++i)
    f[i] = (float)i;
  resid_status status = block(NULL, x, 2, f, 2, y);
  printf("%s: %g\n", resid_status_string(status), y[15]);
  return status || y[15] != 15;
}
