// SPDX-License-Identifier: Apache-2.0
// Reads .npy files: a magic word, two bytes of version, the length of a header (2 bytes in version 1, 4 later), the
// header, which is a Python dictionary with the keys descr, fortran_order and shape, then the elements.
#include "api/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

enum { MAGIC_BYTES = 6, FIRST_HEADER = 10, LATER_HEADER = 12 };

static const struct {
  const char *text;
  graph_type type;
} types[] = {{"<f4", GRAPH_F32}, {"<f8", GRAPH_F64}, {"|i1", GRAPH_I8},  {"|u1", GRAPH_U8},
             {"<i2", GRAPH_I16}, {"<u2", GRAPH_U16}, {"<i4", GRAPH_I32}, {"<u4", GRAPH_U32},
             {"<i8", GRAPH_I64}, {"<u8", GRAPH_U64}, {"|b1", GRAPH_BOOL}};

// What follows a key of the dictionary; NULL: it is not there.
static const char *value_of(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (at == NULL) return NULL;
  at += strlen(key);
  return at + strspn(at, "'\": ");
}

static bool has_type(const char *header, graph_type type) {
  const char *descr = value_of(header, "descr");
  for (size_t i = 0; descr != NULL && i < sizeof types / sizeof *types; i++)
    if (strncmp(descr, types[i].text, 3) == 0) return types[i].type == type;
  return false;
}

static bool has_shape(const char *header, const graph_tensor *tensor) {
  const char *at = value_of(header, "shape");
  if (at == NULL || *at++ != '(') return false;
  for (int d = 0; d < tensor->rank; d++) {
    char *end;
    if (strtoll(at, &end, 10) != tensor->dim[d] || end == at) return false;
    at = end + strspn(end, ", ");
  }
  return *at == ')';
}

static void *refuse(const char *path, const graph_tensor *tensor, wf_diag *diag, const char *why) {
  wf_error(diag, wf_in_file(path), "%s", why);
  char shape[128] = "";
  size_t length = 0;
  for (int d = 0; d < tensor->rank && length < sizeof shape; d++)
    length += (size_t)snprintf(shape + length, sizeof shape - length, "%s%" PRId64, d == 0 ? "" : ", ", tensor->dim[d]);
  wf_hint(diag, "input %s is %s (%s), row by row", tensor->name, graph_type_names[tensor->type], shape);
  return NULL;
}

// Where the elements start, and the header as a string; 0: no such file.
static size_t find_header(const char *file, size_t length, char **header) {
  static const char magic[MAGIC_BYTES] = "\x93NUMPY";
  if (length < LATER_HEADER || memcmp(file, magic, MAGIC_BYTES) != 0) return 0;
  const unsigned char *at = (const unsigned char *)file + MAGIC_BYTES;
  const bool first = at[0] == 1;
  const size_t start = first ? FIRST_HEADER : LATER_HEADER;
  size_t bytes = at[2] | (size_t)at[3] << 8;
  if (!first) bytes |= (size_t)at[4] << 16 | (size_t)at[5] << 24;
  if (bytes > length - start) return 0;
  *header = wf_format("%.*s", (int)bytes, file + start);
  return start + bytes;
}

static void *elements_of(const char *path, const char *file, size_t length, const graph_tensor *tensor, wf_diag *diag) {
  char *header = NULL;
  const size_t start = find_header(file, length, &header);
  void *elements = NULL;
  const char *order = start == 0 ? NULL : value_of(header, "fortran_order");
  if (start == 0)
    refuse(path, tensor, diag, "no .npy file");
  else if (order == NULL || strncmp(order, "False", 5) != 0)
    refuse(path, tensor, diag, "the elements are not row by row");
  else if (!has_type(header, tensor->type))
    refuse(path, tensor, diag, "another type of elements");
  else if (!has_shape(header, tensor) || length - start != graph_bytes(tensor))
    refuse(path, tensor, diag, "another shape");
  else
    elements = memcpy(wf_alloc(length - start + 1, 1), file + start, length - start);
  wf_free(header);
  return elements;
}

#define FILE_MAX ((size_t)1 << 32)

void *api_npy_read(const char *path, const graph_tensor *tensor, wf_diag *diag) {
  size_t length;
  char *file = wf_read_file(path, FILE_MAX, &length, diag);
  if (file == NULL) return NULL;
  if (length > FILE_MAX) {
    wf_error(diag, wf_in_file(path), "is larger than %zu MiB", FILE_MAX >> 20);
    wf_free(file);
    return NULL;
  }
  void *elements = elements_of(path, file, length, tensor, diag);
  wf_free(file);
  return elements;
}
