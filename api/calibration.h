// SPDX-License-Identifier: Apache-2.0
// Inputs of a calibration from files: of a network with one input the .npy and .ppm files of a folder, in the order of
// their names, a sample each; of one with several inputs a folder for each, by the input's name, with as many files.
#ifndef API_CALIBRATION_H
#define API_CALIBRATION_H

#include "compiler/graph/graph.h"

// What pictures become: (value / 255 - mean) / deviation per channel. Of integers they are the values themselves.
typedef struct api_pictures {
  float mean[3], deviation[3];
} api_pictures;

typedef struct api_calibration {
  void **inputs;  // sets * input_count
  int sets, input_count;
} api_calibration;

bool api_calibration_read(const char *folder, const graph *g, const api_pictures *pictures,
                          api_calibration *calibration, wf_diag *diag);
void api_calibration_release(api_calibration *calibration);

// A binary .ppm of 8 bits as an input [1, 3, H, W], [3, H, W] or with the channels last, scaled to its size; NULL after
// the reason was reported.
void *api_picture_read(const char *path, const graph_tensor *tensor, const api_pictures *pictures, wf_diag *diag);

#endif
