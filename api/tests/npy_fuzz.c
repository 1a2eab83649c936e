// SPDX-License-Identifier: Apache-2.0
// Any file is the contents of an input, as NumPy or ONNX write it, or a picture, or is refused with a message. The
// first byte says which of them it is, and of which type and shape the input is.
#define _GNU_SOURCE  // memfd_create
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/calibration.h"
#include "api/npy.h"
#include "base/alloc.h"
#include "compiler/onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_npy(const char *path, const graph_tensor *tensor, wf_diag *diag) {
  unsigned char *elements = api_npy_read(path, tensor, diag), sum = 0;
  for (size_t i = 0; elements != NULL && i < graph_bytes(tensor); i++) sum ^= elements[i];
  assert((elements == NULL) == (diag->errors > 0));
  (void)sum;
  wf_free(elements);
}

static void read_pb(const char *path, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  graph_tensor tensor;
  unsigned char sum = 0;
  const bool good = onnx_read_tensor(path, arena, &tensor, diag);
  for (size_t i = 0; good && i < graph_bytes(&tensor); i++) sum ^= ((const unsigned char *)tensor.data)[i];
  assert(good == (diag->errors == 0));
  (void)sum;
  wf_arena_destroy(arena);
}

static void read_picture(const char *path, bool bytes, wf_diag *diag) {
  const graph_tensor floats = {.name = "x", .type = GRAPH_F32, .rank = 4, .dim = {1, 3, 3, 5}},
                     integers = {.name = "x", .type = GRAPH_U8, .rank = 3, .dim = {3, 5, 3}};
  const api_pictures plain = {{0, 0, 0}, {1, 1, 1}};
  void *elements = api_picture_read(path, bytes ? &integers : &floats, &plain, diag);
  assert((elements == NULL) == (diag->errors > 0));
  wf_free(elements);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { PICTURES = 200 };  // first bytes of pictures: this or more
  static const graph_tensor tensors[] = {{.name = "x", .type = GRAPH_F32, .rank = 2, .dim = {2, 3}},
                                         {.name = "x", .type = GRAPH_I8, .rank = 1, .dim = {7}},
                                         {.name = "x", .type = GRAPH_I64, .rank = 0},
                                         {.name = "x", .type = GRAPH_BOOL, .rank = 3, .dim = {1, 2, 2}}};
  enum { TENSORS = sizeof tensors / sizeof *tensors };
  if (size == 0) return 0;
  wf_diag diag = wf_diag_to(NULL);
  const int file = memfd_create("fuzz", 0);
  if (file < 0 || write(file, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (data[0] >= PICTURES)
    read_picture(path, data[0] % 2 == 1, &diag);
  else if (data[0] % 2 == 0)
    read_npy(path, &tensors[data[0] / 2 % TENSORS], &diag);
  else
    read_pb(path, &diag);
  close(file);
  return 0;
}
