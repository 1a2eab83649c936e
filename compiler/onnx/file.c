// SPDX-License-Identifier: Apache-2.0
// Files in memory, and the check that makes it safe to unpack their messages by recursion.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/onnx/private.h"

enum { NESTING_MAX = 64 };

bool onnx_file_open(const char *path, onnx_file *file, wf_diag *diag) {
  struct stat info;
  *file = (onnx_file){0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool ok = fd >= 0 && fstat(fd, &info) == 0;
  if (!ok) wf_error(diag, wf_in_file(path), "%s", strerror(errno));
  if (ok && !S_ISREG(info.st_mode)) {
    wf_error(diag, wf_in_file(path), "it is no file");
    ok = false;
  }
  if (ok && info.st_size > 0) {
    file->length = (size_t)info.st_size;
    file->bytes = mmap(NULL, file->length, PROT_READ, MAP_PRIVATE, fd, 0);
    ok = file->bytes != MAP_FAILED;
    if (!ok) wf_error(diag, wf_in_file(path), "%s", strerror(errno));
  }
  if (fd >= 0) close(fd);
  if (!ok) *file = (onnx_file){0};
  return ok;
}

void onnx_file_close(onnx_file *file) {
  if (file->bytes != NULL) munmap(file->bytes, file->length);
  *file = (onnx_file){0};
}

// ---- nesting: walks over the wire format, into fields that are messages

typedef struct cursor {
  const uint8_t *at, *end;
} cursor;

static bool varint(cursor *c, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
    uint8_t byte = *c->at++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

static bool skip(cursor *c, uint64_t count) {
  if (count > (uint64_t)(c->end - c->at)) return false;
  c->at += count;
  return true;
}

// What is not well formed is left to the unpacking.
static bool shallow(const ProtobufCMessageDescriptor *message, cursor c, int depth) {
  uint64_t key, length;
  if (depth > NESTING_MAX) return false;
  while (c.at < c.end) {
    if (!varint(&c, &key) || key >> 3 > UINT32_MAX) return true;
    bool ok = true;
    switch (key & 7) {
      case 0:
        ok = varint(&c, &length);
        break;
      case 1:
        ok = skip(&c, 8);
        break;
      case 5:
        ok = skip(&c, 4);
        break;
      case 2: {
        const uint8_t *inner;
        ok = varint(&c, &length);
        inner = c.at;
        ok = ok && skip(&c, length);
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(message, (unsigned)(key >> 3));
        if (ok && field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE &&
            !shallow(field->descriptor, (cursor){inner, c.at}, depth + 1))
          return false;
        break;
      }
      default:
        return true;
    }
    if (!ok) return true;
  }
  return true;
}

bool onnx_is_shallow(const ProtobufCMessageDescriptor *message, const uint8_t *bytes, size_t length) {
  return shallow(message, (cursor){bytes, bytes + length}, 0);
}
