// SPDX-License-Identifier: Apache-2.0
// Packed streams: see gzip.h. Fast rather than small: timelines shrink to a tenth all the same.
#define _GNU_SOURCE  // fopencookie
#include "base/gzip.h"

#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <zlib.h>

#include "base/alloc.h"

enum { PACKED_BYTES = 1 << 16, PLAIN_BYTES = 1 << 16, GZIP_WINDOW = 15 + 16 };

typedef struct gzip {
  z_stream z;
  FILE *to;
  unsigned char packed[PACKED_BYTES];
} gzip;

bool wf_gzip_named(const char *path) {
  const size_t length = strlen(path);
  return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

// Packs what stands at next_in, with Z_FINISH all; false: `to` took not all of it.
static bool pack(gzip *g, int flush) {
  int state;
  do {
    g->z.next_out = g->packed;
    g->z.avail_out = PACKED_BYTES;
    state = deflate(&g->z, flush);
    const size_t made = PACKED_BYTES - g->z.avail_out;
    if (fwrite(g->packed, 1, made, g->to) != made) return false;
  } while (flush == Z_FINISH ? state == Z_OK : g->z.avail_out == 0);
  return true;
}

static ssize_t write_plain(void *cookie, const char *bytes, size_t count) {
  gzip *g = cookie;
  g->z.next_in = (unsigned char *)(uintptr_t)bytes;
  g->z.avail_in = (uInt)count;
  return pack(g, Z_NO_FLUSH) ? (ssize_t)count : 0;
}

static int close_packed(void *cookie) {
  gzip *g = cookie;
  g->z.avail_in = 0;
  const bool good = pack(g, Z_FINISH) && fflush(g->to) == 0;
  deflateEnd(&g->z);
  wf_free(g);
  return good ? 0 : EOF;
}

FILE *wf_gzip_open(FILE *to) {
  gzip *g = WF_NEW(gzip);
  g->to = to;
  if (deflateInit2(&g->z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    wf_free(g);
    return NULL;
  }
  FILE *file = fopencookie(g, "w", (cookie_io_functions_t){.write = write_plain, .close = close_packed});
  if (file != NULL) setvbuf(file, NULL, _IOFBF, PLAIN_BYTES);
  return file;
}
