// SPDX-License-Identifier: Apache-2.0
// Fits the areas of a technology table to the synthesis of several arrays: area = constant + lane * DIM + pe * DIM^2 of
// each part, no coefficient negative, least squares of the relative errors. Through three arrays the fit is exact
// wherever such coefficients exist.
#ifndef HW_EXPORT_FIT_H
#define HW_EXPORT_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "hw/tech.h"

enum { HW_FIT_POINTS_MAX = 16, HW_FIT_POINTS_MIN = 3 };

// A part of one array.
typedef struct hw_fit_point {
  double dim, area_um2;
} hw_fit_point;

hw_tech_area hw_fit(const hw_fit_point *points, size_t count);

// The largest |fitted / measured - 1|.
double hw_fit_error(const hw_tech_area *area, const hw_fit_point *points, size_t count);

// Parts of the table, by name ("mesh"); NULL past the end.
const char *hw_fit_part(size_t index);
enum { HW_FIT_PARTS_MAX = 16 };

// All parts of several arrays.
typedef struct hw_fit_arrays {
  char name[HW_FIT_POINTS_MAX][HW_NAME_MAX];
  hw_fit_point points[HW_FIT_PARTS_MAX][HW_FIT_POINTS_MAX];  // by part
  size_t count;                                              // of arrays
} hw_fit_arrays;

// Adds an array from the file that `weft rtl synth --json` wrote; `arrays` has room for it. False after the reason was
// reported.
bool hw_fit_read(hw_fit_arrays *arrays, const char *path, wf_diag *diag);

// The table's file (hw/tech/180nm.yaml), with `command` and the errors of the fit in its head.
void hw_fit_write(const hw_fit_arrays *arrays, const char *command, FILE *out);

#endif
