// SPDX-License-Identifier: Apache-2.0
// The pictures of a report as a script for gnuplot: see plot.h.
//
// Both axes are logarithmic and end where the points end, so their marks are written here: gnuplot alone marks whole
// decades. What is drawn stands in the script as blocks of numbers. Of names there are only titles; files are numbered,
// since gnuplot can run commands, and a name may come from anywhere.
#include "search/report/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/name.h"

enum { COLOURS = 8 };
static const char *const colours[COLOURS] = {"#1d4ed8", "#0f766e", "#7c3aed", "#be185d",
                                             "#4d7c0f", "#0369a1", "#92400e", "#475569"};

typedef struct spot {
  double cycles, energy;  // in millions and in uJ, as they are drawn
  int64_t dim;
} spot;

typedef struct spots {
  spot *spot;
  size_t count;
} spots;

static int by_cycles(const void *a, const void *b) {
  const spot *x = a, *y = b;
  if (x->cycles != y->cycles) return x->cycles < y->cycles ? -1 : 1;
  return (x->energy > y->energy) - (x->energy < y->energy);
}

// The good points of a network, the fastest first.
static spots spots_of(const report_data *d, size_t network) {
  spots all = {wf_calloc(d->point_count + 1, sizeof(spot)), 0};
  for (size_t i = 0; i < d->point_count; i++) {
    const report_sum *sum = &d->points[i].sums[network];
    if (sum->good) all.spot[all.count++] = (spot){sum->cycles / 1e6, sum->energy_pj / 1e6, d->points[i].dim};
  }
  qsort(all.spot, all.count, sizeof *all.spot, by_cycles);
  return all;
}

// Marks at 1, 1.5, 2, 3, 4, 5, 7 times powers of ten, for 0 < low <= high.
static void write_axis(char axis, double low, double high, FILE *out) {
  static const double steps[] = {1, 1.5, 2, 3, 4, 5, 7};
  const char *comma = "";
  low /= 1.06;
  high *= 1.06;
  fprintf(out, "set %crange [%g:%g]\nset %ctics (", axis, low, high, axis);
  for (int power = (int)floor(log10(low)); power <= (int)floor(log10(high)); power++)
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
      const double mark = steps[s] * pow(10, power);
      if (mark < low || mark > high) continue;
      fprintf(out, "%s%g", comma, mark);
      comma = ", ";
    }
  fputs(")\n", out);
}

static void write_axes(const spots *all, FILE *out) {
  double low = all->spot[0].energy, high = low;
  for (size_t i = 1; i < all->count; i++) {
    low = fmin(low, all->spot[i].energy);
    high = fmax(high, all->spot[i].energy);
  }
  write_axis('x', all->spot[0].cycles, all->spot[all->count - 1].cycles, out);
  write_axis('y', low, high, out);
}

// Points that no other beats in both axes, as data of the script.
static void write_front(const spots *all, FILE *out) {
  double best = INFINITY;
  fputs("$front << END\n", out);
  for (size_t i = 0; i < all->count; i++) {
    if (all->spot[i].energy >= best) continue;
    best = all->spot[i].energy;
    fprintf(out, "%g,%g\n", all->spot[i].cycles, best);
  }
  fputs("END\n", out);
}

static void write_points(const spots *all, FILE *out) {
  fputs("$points << END\n", out);
  for (size_t i = 0; i < all->count; i++)
    fprintf(out, "%g,%g,%" PRId64 "\n", all->spot[i].cycles, all->spot[i].energy, all->spot[i].dim);
  fputs("END\n", out);
}

// Least cycles and cycles of the layers of points on the front.
static void write_layers(const report_data *d, size_t network, FILE *out) {
  const report_network *n = &d->networks[network];
  fputs("$layers << END\n", out);
  for (size_t i = 0; i < d->point_count; i++) {
    const report_point *p = &d->points[i];
    for (size_t l = 0; l < n->layer_count && p->front && p->sums[network].good; l++) {
      const report_measurement *m = &p->measurements[n->layers[l].unique];
      if (!report_shows(&n->layers[l], m)) continue;
      const double least = report_bound_cycles(p, &n->layers[l], m);
      if (least > 0 && m->cycles > 0) fprintf(out, "%g,%" PRId64 "\n", least, m->cycles);
    }
  }
  fputs("END\n", out);
}

// A colour per side while there are few of them.
static void draw_points(const spots *all, FILE *out) {
  int64_t dims[COLOURS];
  size_t count = 0;
  for (size_t i = 0; i < all->count && count <= COLOURS; i++) {
    size_t known = 0;
    while (known < count && dims[known] != all->spot[i].dim) known++;
    if (known == count && count++ < COLOURS) dims[known] = all->spot[i].dim;
  }
  if (count > COLOURS) fputs(", $points using 1:2 with points pt 7 ps 0.5 lc rgb '#64748b' title 'arrays'", out);
  for (size_t c = 0; c < count && count <= COLOURS; c++)
    fprintf(out,
            ", $points using ($3==%" PRId64
            "?$1:NaN):2 with points pt 7 ps 0.5 lc rgb '%s' "
            "title '%" PRId64 " x %" PRId64 "'",
            dims[c], colours[c], dims[c], dims[c]);
  fputc('\n', out);
}

static void write_title(const char *network, const char *rest, FILE *out) {
  fputs("set title \"", out);
  wf_name_write(WF_NAME_GNUPLOT, network, out);
  fprintf(out, ": %s\" noenhanced\n", rest);
}

static void begin_picture(const char *what, size_t network, bool png, FILE *out) {
  fprintf(out,
          "reset\nset encoding utf8\nset terminal %s\nset output '%s-%zu.%s'\nset datafile separator ','\n"
          "set logscale xy\nset key outside\nset grid lc rgb '#e2e8f0'\n",
          png ? "pngcairo size 960,640" : "svg size 960,640 background rgb 'white'", what, network,
          png ? "png" : "svg");
}

static void draw_front(const spots *all, const report_data *d, size_t network, bool png, FILE *out) {
  char title[64];
  snprintf(title, sizeof title, "cycles and energy of %zu arrays", all->count);
  begin_picture("front", network, png, out);
  write_title(d->networks[network].name, title, out);
  fputs("set xlabel 'million cycles'\nset ylabel 'energy (uJ)'\n", out);
  write_axes(all, out);
  fputs("plot $front using 1:2 with steps lw 2 lc rgb '#c2410c' title 'front'", out);
  draw_points(all, out);
}

static void draw_layers(const report_data *d, size_t network, bool png, FILE *out) {
  begin_picture("layers", network, png, out);
  write_title(d->networks[network].name, "cycles of the layers of front points against the least possible", out);
  fputs(
      "set xlabel 'least cycles (processing elements or bus)'\nset ylabel 'cycles'\n"
      "plot $layers using 1:2 with points pt 7 ps 0.5 lc rgb '#1d4ed8' title 'layers', "
      "x with lines lc rgb '#9aa5b1' title 'all busy'\n",
      out);
}

// Logarithms need figures above 0; arrays without a table of energies have none.
static bool has_axes(const spots *all) {
  for (size_t i = 0; i < all->count; i++)
    if (!(all->spot[i].cycles > 0 && all->spot[i].energy > 0)) return false;
  return all->count > 0;
}

static bool has_cycles(const spots *all) {
  for (size_t i = 0; i < all->count; i++)
    if (all->spot[i].cycles > 0) return true;
  return false;
}

static void write_network(const report_data *data, size_t network, FILE *out) {
  const spots all = spots_of(data, network);
  fprintf(out, "# front-%zu, layers-%zu: ", network, network);
  wf_name_write(WF_NAME_GNUPLOT, data->networks[network].name, out);
  fputs(" .\n", out);
  if (has_axes(&all)) {
    write_front(&all, out);
    write_points(&all, out);
    for (int png = 0; png < 2; png++) draw_front(&all, data, network, png != 0, out);
  }
  if (has_cycles(&all)) {
    write_layers(data, network, out);
    for (int png = 0; png < 2; png++) draw_layers(data, network, png != 0, out);
  }
  wf_free(all.spot);
}

void report_write_plot(const report_data *data, FILE *out) {
  for (size_t n = 0; n < data->network_count; n++) write_network(data, n, out);
}
