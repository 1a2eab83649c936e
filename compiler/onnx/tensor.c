// SPDX-License-Identifier: Apache-2.0
// Tensors of a file: in raw bytes, in lists of numbers, or in a file beside it. Numbers of FLOAT16 and BFLOAT16 are
// read as f32, which holds all of them.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/element.h"
#include "compiler/onnx/private.h"

// X(NAME of the graph's type, of the file's)
#define TYPES(X) \
  X(F32, FLOAT)  \
  X(F64, DOUBLE) \
  X(I8, INT8)    \
  X(U8, UINT8)   \
  X(I16, INT16)  \
  X(U16, UINT16) \
  X(I32, INT32)  \
  X(U32, UINT32) \
  X(I64, INT64)  \
  X(U64, UINT64) \
  X(BOOL, BOOL)

static bool is_half(int32_t code) {
  return code == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 || code == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
}

bool onnx_type(int32_t code, graph_type *type) {
  *type = GRAPH_F32;
  if (is_half(code)) return true;
  switch (code) {
#define X(NAME, FILE_NAME)                         \
  case ONNX__TENSOR_PROTO__DATA_TYPE__##FILE_NAME: \
    *type = GRAPH_##NAME;                          \
    return true;
    TYPES(X)
#undef X
    default:
      return false;
  }
}

int32_t onnx_type_code(graph_type type) {
  static const int32_t codes[GRAPH_TYPE_COUNT] = {
#define X(NAME, FILE_NAME) [GRAPH_##NAME] = ONNX__TENSOR_PROTO__DATA_TYPE__##FILE_NAME,
      TYPES(X)
#undef X
  };
  return codes[type];
}

const char *onnx_type_name(int32_t code) {
  const ProtobufCEnumValue *value =
      protobuf_c_enum_descriptor_get_value(&onnx__tensor_proto__data_type__descriptor, code);
  return value != NULL ? value->name : "unknown";
}

static bool fail(onnx_reader *r, const char *what, const char *format, ...) WF_PRINTF(3, 4);
static bool fail(onnx_reader *r, const char *what, const char *format, ...) {
  char message[200];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return onnx_fail(r, "tensor '%s': %s", what, message);
}

// ---- data beside the file

typedef struct external {
  const char *location;
  int64_t offset, length;  // length -1: to the end
} external;

static bool number_of(const char *text, int64_t *value) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  return errno == 0 && *end == '\0' && end != text && *value >= 0;
}

static bool read_external(onnx_reader *r, const Onnx__TensorProto *from, const char *what, external *e) {
  *e = (external){.length = -1};
  for (size_t i = 0; i < from->n_external_data; i++) {
    const Onnx__StringStringEntryProto *entry = from->external_data[i];
    if (entry->key == NULL || entry->value == NULL) continue;
    if (strcmp(entry->key, "location") == 0) e->location = entry->value;
    int64_t *number = strcmp(entry->key, "offset") == 0   ? &e->offset
                      : strcmp(entry->key, "length") == 0 ? &e->length
                                                          : NULL;
    if (number != NULL && !number_of(entry->value, number))
      return fail(r, what, "%s of its data is '%s'", entry->key, entry->value);
  }
  if (e->location == NULL || e->location[0] == '\0')
    return fail(r, what, "its data is elsewhere, but nothing says where");
  // The file must not make us read anything but its neighbours.
  if (e->location[0] == '/' || strstr(e->location, "..") != NULL)
    return fail(r, what, "its data is in '%s', outside of the model's folder", e->location);
  return r->folder != NULL || fail(r, what, "its data is in a file of its own");
}

// `to` NULL: only whether the bytes are there.
static bool copy_external(onnx_reader *r, const Onnx__TensorProto *from, const char *what, void *to, size_t bytes) {
  external e;
  onnx_file file;
  if (!read_external(r, from, what, &e)) return false;
  char *path = wf_format("%s/%s", r->folder, e.location);
  bool ok = onnx_file_open(path, &file, r->diag);
  wf_free(path);
  if (!ok) return false;
  if ((uint64_t)e.offset > file.length || bytes > file.length - (size_t)e.offset ||
      (e.length >= 0 && (uint64_t)e.length != bytes))
    ok = fail(r, what, "'%s' does not have its %zu bytes at %" PRId64, e.location, bytes, e.offset);
  else if (to != NULL)
    memcpy(to, (const char *)file.bytes + e.offset, bytes);
  onnx_file_close(&file);
  return ok;
}

// ---- numbers of 16 bits become f32

// 1 sign bit, 5 bits of exponent (bias 15), 10 of fraction; exponent 0: fraction * 2^-24; 31: infinite or no number.
static float of_f16(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                          : exponent == 0 ? ldexpf((float)fraction, -24)
                                          : ldexpf((float)(fraction + 1024), exponent - 25);
  return half >> 15 != 0 ? -magnitude : magnitude;
}

// The upper half of an f32.
static float of_bf16(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float of_half(int32_t code, uint16_t half) {
  return code == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 ? of_f16(half) : of_bf16(half);
}

// The file's numbers stand in the first half of `data`: from the last one on, none is overwritten before it is read.
static void widen_halves(int32_t code, void *data, size_t count) {
  uint16_t half;
  for (size_t i = count; i-- > 0;) {
    memcpy(&half, (const char *)data + i * sizeof half, sizeof half);
    ((float *)data)[i] = of_half(code, half);
  }
}

static size_t file_bytes(const Onnx__TensorProto *from, const graph_tensor *to) {
  return is_half(from->data_type) ? graph_bytes(to) / 2 : graph_bytes(to);
}

// ---- data in lists

static bool copy_halves(const Onnx__TensorProto *from, size_t count, float *to) {
  if (from->n_int32_data != count) return false;
  for (size_t i = 0; i < count; i++) to[i] = of_half(from->data_type, (uint16_t)from->int32_data[i]);
  return true;
}

static bool copy_list(const Onnx__TensorProto *from, graph_type type, size_t count, void *to) {
  if (is_half(from->data_type)) return copy_halves(from, count, to);
  switch (type) {
    case GRAPH_F32:
      if (from->n_float_data != count) return false;
      memcpy(to, from->float_data, count * sizeof(float));
      return true;
    case GRAPH_F64:
      if (from->n_double_data != count) return false;
      memcpy(to, from->double_data, count * sizeof(double));
      return true;
    case GRAPH_I64:
      if (from->n_int64_data != count) return false;
      memcpy(to, from->int64_data, count * sizeof(int64_t));
      return true;
    case GRAPH_U32:
    case GRAPH_U64:
      if (from->n_uint64_data != count) return false;
      for (size_t i = 0; i < count; i++) graph_put_int(type, to, i, (int64_t)from->uint64_data[i]);
      return true;
    default:
      if (from->n_int32_data != count) return false;
      for (size_t i = 0; i < count; i++) graph_put_int(type, to, i, from->int32_data[i]);
      return true;
  }
}

static bool is_external(const Onnx__TensorProto *from) {
  return from->has_data_location && from->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static bool copy_data(onnx_reader *r, Onnx__TensorProto *from, const char *what, const graph_tensor *to, void *data) {
  const size_t bytes = file_bytes(from, to), count = (size_t)graph_elements(to);
  const bool halves = is_half(from->data_type);
  if (is_external(from)) {
    if (!copy_external(r, from, what, data, bytes)) return false;
    if (halves) widen_halves(from->data_type, data, count);
    return true;
  }
  if (count == 0) return true;
  if (!from->has_raw_data)
    return copy_list(from, to->type, count, data) || fail(r, what, "it does not have %zu elements", count);
  if (from->raw_data.len != bytes) return fail(r, what, "it has %zu bytes instead of %zu", from->raw_data.len, bytes);
  memcpy(data, from->raw_data.data, bytes);
  if (halves) widen_halves(from->data_type, data, count);
  return true;
}

// Whether the bytes that a shape asks for can be there at all, before they are allocated.
static bool has_enough(onnx_reader *r, const Onnx__TensorProto *from, const char *what, const graph_tensor *to) {
  const size_t count = (size_t)graph_elements(to);
  if (is_external(from)) return copy_external(r, from, what, NULL, file_bytes(from, to));
  const size_t there = from->raw_data.len + from->n_float_data + from->n_double_data + from->n_int32_data +
                       from->n_int64_data + from->n_uint64_data;
  return there >= count || fail(r, what, "it does not have %zu elements", count);
}

bool onnx_tensor(onnx_reader *r, Onnx__TensorProto *from, const char *what, wf_arena *arena, graph_tensor *to) {
  int64_t elements;
  *to = (graph_tensor){.name = what};
  if (!onnx_type(from->data_type, &to->type))
    return fail(r, what, "its type %s is not supported", onnx_type_name(from->data_type));
  if (from->n_dims > GRAPH_RANK_MAX) return fail(r, what, "it has %zu dimensions", from->n_dims);
  to->rank = (int)from->n_dims;
  for (int d = 0; d < to->rank; d++) to->dim[d] = from->dims[d];
  if (!graph_count_elements(to->rank, to->dim, &elements)) return fail(r, what, "its shape is impossible");
  if (from->segment != NULL) return fail(r, what, "it is cut into segments");
  if (!has_enough(r, from, what, to)) return false;
  void *data = wf_arena_alloc(arena, graph_bytes(to) + 1, 1);
  if (!copy_data(r, from, what, to, data)) return false;
  if (to->type == GRAPH_BOOL)
    for (int64_t i = 0; i < elements; i++) ((uint8_t *)data)[i] = ((uint8_t *)data)[i] != 0;
  to->data = data;
  // A model is its constants: they should not be there twice.
  free(from->raw_data.data);
  from->raw_data = (ProtobufCBinaryData){0};
  return true;
}

bool onnx_read_tensor(const char *path, wf_arena *arena, graph_tensor *tensor, wf_diag *diag) {
  onnx_reader r = {.path = path, .diag = diag};
  onnx_file file;
  if (!onnx_file_open(path, &file, diag)) return false;
  Onnx__TensorProto *proto = onnx__tensor_proto__unpack(NULL, file.length, file.bytes);
  onnx_file_close(&file);
  if (proto == NULL) return onnx_fail(&r, "it is no tensor of ONNX");
  const char *name = proto->name != NULL && proto->name[0] != '\0' ? proto->name : "data";
  name = wf_arena_text(arena, name, strlen(name));
  bool ok = onnx_tensor(&r, proto, name, arena, tensor);
  onnx__tensor_proto__free_unpacked(proto, NULL);
  return ok;
}
