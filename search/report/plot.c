// SPDX-License-Identifier: Apache-2.0
// The pictures of a report as a script for gnuplot: see plot.h.
//
// Both axes are logarithmic and end where the points end, so their marks are written here: gnuplot alone marks whole
// decades.
#include "search/report/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

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

// Marks at 1, 1.5, 2, 3, 4, 5, 7 times powers of ten.
static void write_axis(char axis, double low, double high, FILE *out) {
  static const double steps[] = {1, 1.5, 2, 3, 4, 5, 7};
  const char *comma = "";
  low /= 1.06;
  high *= 1.06;
  fprintf(out, "set %crange [%g:%g]\nset %ctics (", axis, low, high, axis);
  for (double decade = pow(10, floor(log10(low))); decade <= high; decade *= 10)
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
      if (steps[s] * decade < low || steps[s] * decade > high) continue;
      fprintf(out, "%s%g", comma, steps[s] * decade);
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

// A colour per side while there are few of them.
static void write_points(const spots *all, const char *network, FILE *out) {
  int64_t dims[COLOURS];
  size_t count = 0;
  for (size_t i = 0; i < all->count && count <= COLOURS; i++) {
    size_t known = 0;
    while (known < count && dims[known] != all->spot[i].dim) known++;
    if (known == count && count++ < COLOURS) dims[known] = all->spot[i].dim;
  }
  if (count > COLOURS)
    fprintf(out,
            ", '< grep \"^%s,\" points.csv' using ($9/1e6):10 with points pt 7 ps 0.5 lc rgb '#64748b' title 'arrays'",
            network);
  for (size_t c = 0; c < count && count <= COLOURS; c++)
    fprintf(out,
            ", '< grep \"^%s,\" points.csv' using ($4==%" PRId64
            "?$9/1e6:NaN):10 with points pt 7 ps 0.5 lc rgb '%s' "
            "title '%" PRId64 " x %" PRId64 "'",
            network, dims[c], colours[c], dims[c], dims[c]);
  fputc('\n', out);
}

static void write_pictures(const spots *all, const char *network, bool png, FILE *out) {
  const char *ending = png ? "png" : "svg";
  fprintf(out,
          "reset\nset terminal %s\nset output 'front-%s.%s'\nset datafile separator ','\nset logscale xy\n"
          "set key outside\nset grid lc rgb '#e2e8f0'\nset title '%s: cycles and energy of %zu arrays' noenhanced\n"
          "set xlabel 'million cycles'\nset ylabel 'energy (uJ)'\n",
          png ? "pngcairo size 960,640" : "svg size 960,640 background rgb 'white'", network, ending, network,
          all->count);
  write_axes(all, out);
  write_front(all, out);
  fputs("plot $front using 1:2 with steps lw 2 lc rgb '#c2410c' title 'front'", out);
  write_points(all, network, out);
  fprintf(out,
          "reset\nset output 'layers-%s.%s'\nset datafile separator ','\nset logscale xy\nset key outside\n"
          "set grid lc rgb '#e2e8f0'\n"
          "set title '%s: cycles of the layers of front points against the least possible' noenhanced\n"
          "set xlabel 'least cycles (processing elements or bus)'\nset ylabel 'cycles'\n"
          "plot '< grep \"^%s,\" layers.csv' using 7:6 with points pt 7 ps 0.5 lc rgb '#1d4ed8' title 'layers', "
          "x with lines lc rgb '#9aa5b1' title 'all busy'\n",
          network, ending, network, network);
}

void report_write_plot(const report_data *data, FILE *out) {
  for (size_t n = 0; n < data->network_count; n++) {
    const spots all = spots_of(data, n);
    for (int png = 0; png < 2 && all.count > 0; png++) write_pictures(&all, data->networks[n].name, png != 0, out);
    wf_free(all.spot);
  }
}
