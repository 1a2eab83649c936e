// SPDX-License-Identifier: Apache-2.0
// Any file is a store that is queried and reported, or is refused with a message. What does not begin like a database
// is a list of changes to a good store: place (3 bytes), length (1 byte), bytes; so that most of it stays one.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "search/report/data.h"
#include "search/report/plot.h"
#include "search/sweep/query.h"
#include "search/sweep/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

// The good store, and the file of this process.
static struct {
  uint8_t *bytes;
  size_t length;
  char *path;
} base;

static void add_results(sweep_store *s, const sweep_spec *spec, size_t point) {
  const hw_array array = sweep_point(spec, point);
  sweep_store_point(s, point, &array, "{\"scratchpad.capacity_kib\":16}", "");
  for (size_t i = 0; i < spec->networks[0].count; i++) {
    const map_layer layer = layers_to_map(&spec->networks[0].layers[i]);
    sweep_store_key key = {.array = hw_array_hash(&array), .layer = map_layer_hash(&layer)};
    snprintf(key.policy, sizeof key.policy, "%s", sweep_policy(spec).text);
    sweep_work_result *result = WF_NEW(sweep_work_result);
    result->has_energy = 1;
    result->cycles = 1000 * (point + 1) + i;
    result->macs = result->commands = result->read_bytes = result->written_bytes = 100 + i;
    result->utilisation = 0.5;
    result->energy_pj = 1e6;
    snprintf(result->bound, sizeof result->bound, "mesh");
    snprintf(result->units, sizeof result->units, "{\"cycles\":1000}");
    if (!sweep_store_has(s, &key)) sweep_store_add(s, &key, "fuzz", result);
    wf_free(result);
  }
}

static void make_store(void) {
  static const char text[] =
      "name: fuzz\nbase: dim4\nparameters: {scratchpad.capacity_kib: [16, 32, 64]}\nnetworks: [" TINY "]\n";
  wf_diag diag = wf_diag_to(stderr);
  sweep_spec spec;
  if (!sweep_spec_parse(&spec, "fuzz.yaml", text, sizeof text - 1, &diag)) abort();
  sweep_store *s = sweep_store_open(base.path, &spec, "fuzz", SWEEP_STORE_ANY_VERSION, &diag);
  if (s == NULL) abort();
  sweep_store_begin(s);
  for (size_t i = 0; i < sweep_point_count(&spec); i++) add_results(s, &spec, i);
  if (!sweep_store_commit(s, &diag)) abort();
  sweep_store_close(s);
  sweep_spec_release(&spec);
}

static void remove_store(void) { unlink(base.path); }

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  base.path = wf_format("%s/weft-store-fuzz.%ld", folder, (long)getpid());
  make_store();
  atexit(remove_store);
  wf_diag diag = wf_diag_to(stderr);
  base.bytes = (uint8_t *)wf_read_file(base.path, 0, &base.length, &diag);
  return base.bytes == NULL;
}

static uint8_t *change(const uint8_t *data, size_t size) {
  uint8_t *bytes = memcpy(wf_alloc(base.length, 1), base.bytes, base.length);
  while (size >= 4) {
    const size_t place = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % base.length;
    size_t length = data[3];
    data += 4, size -= 4;
    if (length > size) length = size;
    if (length > base.length - place) length = base.length - place;
    memcpy(bytes + place, data, length);
    data += length, size -= length;
  }
  return bytes;
}

static void write_file(const void *bytes, size_t length) {
  const int file = open(base.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, bytes, length) != (ssize_t)length) abort();
  close(file);
}

static void query(const char *text) {
  enum { ROWS = 100 };
  wf_diag diag = wf_diag_to(NULL);
  sweep_query *q = sweep_query_open(base.path, text, NULL, ROWS, &diag);
  if (q == NULL) return;
  for (int row = 0; row < ROWS && sweep_query_next(q, &diag); row++)
    for (int c = 0; c < sweep_query_columns(q); c++)
      if (strlen(sweep_query_text(q, c)) == SIZE_MAX || sweep_query_name(q, c) == NULL) abort();
  sweep_query_close(q);
}

static void report(void) {
  wf_diag diag = wf_diag_to(NULL);
  report_data d;
  if (report_load(&d, base.path, NULL, &diag)) {
    FILE *out = fopen("/dev/null", "w");
    report_write_plot(&d, out);
    fclose(out);
  }
  report_release(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size >= 6 && memcmp(data, "SQLite", 6) == 0) {
    write_file(data, size);
  } else {
    uint8_t *bytes = change(data, size);
    write_file(bytes, base.length);
    wf_free(bytes);
  }
  query("");
  query("cycles > 0 order by edp");
  report();
  return 0;
}
