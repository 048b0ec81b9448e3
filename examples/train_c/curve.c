/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Writes the table, and draws it. */
#include "curve.h"

#include <stdio.h>

int add_to_curve(const char *path, int64_t step, double loss) {
  FILE *file = fopen(path, step ? "a" : "w");
  if (!file)
    return 0;
  if (!step)
    fprintf(file, "step,loss\n");
  fprintf(file, "%lld,%.6f\n", (long long)step, loss);
  return !fclose(file);
}

enum { WIDTH = 640, HEIGHT = 360, LEFT = 50, BOTTOM = 40, TOP = 20 };

/* Goes through the table, and draws its points where there is a drawing; the last step. */
static int64_t read_curve(FILE *table, FILE *drawing, double steps, double top) {
  long long step, last = 0;
  double loss;
  rewind(table);
  if (fscanf(table, "step,loss\n") < 0)
    return 0;
  while (fscanf(table, "%lld,%lf\n", &step, &loss) == 2) {
    last = step;
    if (drawing)
      fprintf(drawing, "%.1f,%.1f ", LEFT + (WIDTH - LEFT - TOP) * (double)step / steps,
              HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * loss / top);
  }
  return last;
}

int draw_curve(const char *csv, const char *svg) {
  /* A byte at random has a loss of log(256) = 5.5, and a model that begins a little more. */
  const double top = 7;
  FILE *table = fopen(csv, "r"), *file = table ? fopen(svg, "w") : NULL;
  if (file) {
    int64_t last = read_curve(table, NULL, 0, 0);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, HEIGHT);
    for (int loss = 0; loss <= top; ++loss) {
      double y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * loss / top;
      fprintf(file,
              "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n",
              LEFT, y, WIDTH - TOP, LEFT - 6, y + 4, loss);
    }
    fprintf(
        file,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">step %lld</text>\n<text x=\"%d\" y=\"14\">loss of a byte</text>\n",
        WIDTH - TOP, HEIGHT - 14, (long long)last, LEFT);
    fprintf(file, "<polyline fill=\"none\" stroke=\"#0b62a4\" points=\"");
    read_curve(table, file, last ? (double)last : 1, top);
    fprintf(file, "\"/>\n</svg>\n");
  }
  int good = file != NULL;
  if (file)
    good = !fclose(file);
  if (table)
    fclose(table);
  return good;
}
