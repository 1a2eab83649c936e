// SPDX-License-Identifier: Apache-2.0
// The fit of a technology table's areas; see fit.h. Least squares without negative coefficients: of all choices of
// coefficients that are not zero, the best one whose solution has none below zero.
#include "hw/export/fit.h"

#include <assert.h>
#include <math.h>

enum { TERMS = 3, CHOICES = 1 << TERMS };

static const char *const parts[] = {
#define GROUP(group, doc)
#define END(group)
#define NUMBER(group, field, ...)
#define AREA(group, field, ...) #field,
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
};
enum { PARTS = sizeof parts / sizeof *parts };
static_assert((int)PARTS <= (int)HW_FIT_PARTS_MAX, "hw_fit_arrays holds all parts");

const char *hw_fit_part(size_t index) { return index < PARTS ? parts[index] : NULL; }

static double term_of(double dim, unsigned term) { return term == 0 ? 1 : term == 1 ? dim : dim * dim; }

static double value_of(const double coefficient[TERMS], double dim) {
  return coefficient[0] + coefficient[1] * dim + coefficient[2] * dim * dim;
}

// A unit that an array does not have counts with its absolute error.
static double weight_of(const hw_fit_point *p) { return p->area_um2 > 0 ? 1 / p->area_um2 : 1; }

static double squares(const double coefficient[TERMS], const hw_fit_point *points, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double error = (value_of(coefficient, points[i].dim) - points[i].area_um2) * weight_of(&points[i]);
    sum += error * error;
  }
  return sum;
}

// Gauss-Jordan with pivots on the normal equations, whose unknowns are the chosen terms; false: they are dependent.
static bool solve(double m[TERMS][TERMS + 1], unsigned n) {
  for (unsigned k = 0; k < n; k++) {
    unsigned pivot = k;
    for (unsigned i = k + 1; i < n; i++)
      if (fabs(m[i][k]) > fabs(m[pivot][k])) pivot = i;
    if (fabs(m[pivot][k]) < 1e-12) return false;
    for (unsigned j = 0; j <= n; j++) {
      const double other = m[k][j];
      m[k][j] = m[pivot][j];
      m[pivot][j] = other;
    }
    for (unsigned i = 0; i < n; i++) {
      if (i == k) continue;
      const double factor = m[i][k] / m[k][k];
      for (unsigned j = k; j <= n; j++) m[i][j] -= factor * m[k][j];
    }
  }
  return true;
}

// Weighted least squares in the terms of `choice`, a bit mask.
static bool solve_choice(unsigned choice, const hw_fit_point *points, size_t count, double coefficient[TERMS]) {
  double m[TERMS][TERMS + 1] = {0};
  unsigned term[TERMS], n = 0;
  for (unsigned t = 0; t < TERMS; t++)
    if ((choice >> t & 1) != 0) term[n++] = t;
  for (size_t p = 0; p < count; p++) {
    const double weight = weight_of(&points[p]) * weight_of(&points[p]);
    for (unsigned i = 0; i < n; i++) {
      const double left = weight * term_of(points[p].dim, term[i]);
      for (unsigned j = 0; j < n; j++) m[i][j] += left * term_of(points[p].dim, term[j]);
      m[i][n] += left * points[p].area_um2;
    }
  }
  // Scaled to a diagonal of ones: the weights are of areas, some 1e-12.
  double scale[TERMS];
  for (unsigned i = 0; i < n; i++) scale[i] = 1 / sqrt(m[i][i]);
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j <= n; j++) m[i][j] *= scale[i] * (j < n ? scale[j] : 1);
  if (!solve(m, n)) return false;
  for (unsigned t = 0; t < TERMS; t++) coefficient[t] = 0;
  for (unsigned i = 0; i < n; i++) coefficient[term[i]] = m[i][n] / m[i][i] * scale[i];
  return true;
}

hw_tech_area hw_fit(const hw_fit_point *points, size_t count) {
  double best[TERMS] = {0}, least = squares(best, points, count);
  for (unsigned choice = 1; choice < CHOICES; choice++) {
    double c[TERMS];
    if (!solve_choice(choice, points, count, c) || c[0] < 0 || c[1] < 0 || c[2] < 0) continue;
    const double sum = squares(c, points, count);
    if (sum >= least) continue;
    least = sum;
    for (unsigned t = 0; t < TERMS; t++) best[t] = c[t];
  }
  return (hw_tech_area){.constant = best[0], .lane = best[1], .pe = best[2]};
}

double hw_fit_error(const hw_tech_area *area, const hw_fit_point *points, size_t count) {
  const double coefficient[TERMS] = {area->constant, area->lane, area->pe};
  double most = 0;
  for (size_t i = 0; i < count; i++)
    if (points[i].area_um2 > 0) most = fmax(most, fabs(value_of(coefficient, points[i].dim) / points[i].area_um2 - 1));
  return most;
}

// ---- the file

static void write_measured(const hw_fit_arrays *arrays, FILE *out) {
  fprintf(out, "# Measured (um2), and the largest error of the fit:\n#   %-14s", "part");
  for (size_t n = 0; n < arrays->count; n++) fprintf(out, " %12s", arrays->name[n]);
  fprintf(out, " %8s\n", "error");
  for (size_t part = 0; part < PARTS; part++) {
    const hw_tech_area area = hw_fit(arrays->points[part], arrays->count);
    fprintf(out, "#   %-14s", parts[part]);
    for (size_t n = 0; n < arrays->count; n++) fprintf(out, " %12.0f", arrays->points[part][n].area_um2);
    fprintf(out, " %7.1f%%\n", 100 * hw_fit_error(&area, arrays->points[part], arrays->count));
  }
}

void hw_fit_write(const hw_fit_arrays *arrays, const char *command, FILE *out) {
  fprintf(
      out,
      "# Areas of the hardware in 180 nm standard cells (osu018), fitted to what `weft rtl synth ARRAY --json` says "
      "of\n"
      "# the arrays below: area = constant + lane * DIM + pe * DIM^2 of each part. Made by\n"
      "#   %s\n"
      "# Logic only: bits of scratchpad and accumulator are counted, not mapped, and have no area here. Energies and\n"
      "# bandwidths are not measured in this library, so this table has none; 40nm has those of a model.\n"
      "#\n",
      command);
  write_measured(arrays, out);
  fputs("name: 180nm\ndescription: areas of the synthesised hardware in 180 nm standard cells\n\narea_um2:\n", out);
  for (size_t part = 0; part < PARTS; part++) {
    const hw_tech_area area = hw_fit(arrays->points[part], arrays->count);
    fprintf(out, "  %s: {constant: %.0f, lane: %.0f, pe: %.0f}\n", parts[part], area.constant, area.lane, area.pe);
  }
}
