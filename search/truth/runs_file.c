// SPDX-License-Identifier: Apache-2.0
// See runs_file.h. A file is the hash of the program, then pairs of key and result as they are in memory.
#include "search/truth/runs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"

struct truth_runs_file {
  int descriptor;
  off_t end;  // of the last whole entry
};

// The running program, byte for byte: neither a version nor a date tells builds apart that differ.
static uint64_t build_hash(void) {
  uint64_t hash = WF_HASH_START;
  char bytes[1 << 16];
  const int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  for (ssize_t length; program >= 0 && (length = read(program, bytes, sizeof bytes)) > 0;)
    hash = wf_hash(hash, bytes, (size_t)length);
  if (program >= 0) close(program);
  return hash;
}

static bool write_whole(truth_runs_file *f, const void *bytes, size_t length) {
  if (pwrite(f->descriptor, bytes, length, f->end) != (ssize_t)length) return false;
  f->end += (off_t)length;
  return true;
}

static bool read_whole(truth_runs_file *f, void *bytes, size_t length) {
  if (pread(f->descriptor, bytes, length, f->end) != (ssize_t)length) return false;
  f->end += (off_t)length;
  return true;
}

// Of another build, or new: begins anew.
static bool begin(truth_runs_file *f) {
  const uint64_t build = build_hash();
  uint64_t there;
  if (read_whole(f, &there, sizeof there) && there == build) return true;
  f->end = 0;
  return ftruncate(f->descriptor, 0) == 0 && write_whole(f, &build, sizeof build);
}

truth_runs_file *truth_runs_file_open(const char *path, wf_diag *diag) {
  truth_runs_file *f = WF_NEW(truth_runs_file);
  f->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (f->descriptor >= 0 && begin(f)) return f;
  wf_error(diag, wf_in_file(path), "cannot keep runs: %s", strerror(errno));
  truth_runs_file_close(f);
  return NULL;
}

void truth_runs_file_close(truth_runs_file *f) {
  if (f == NULL) return;
  if (f->descriptor >= 0) close(f->descriptor);
  wf_free(f);
}

bool truth_runs_file_next(truth_runs_file *f, truth_runs_key *key, sweep_work_result *result) {
  const off_t start = f->end;
  if (read_whole(f, key, sizeof *key) && read_whole(f, result, sizeof *result)) return true;
  f->end = start;
  return false;
}

// One that could not be written is measured again, some day.
void truth_runs_file_add(truth_runs_file *f, const truth_runs_key *key, const sweep_work_result *result) {
  const off_t start = f->end;
  if (!write_whole(f, key, sizeof *key) || !write_whole(f, result, sizeof *result)) f->end = start;
}
