// SPDX-License-Identifier: Apache-2.0
// Files that take their place when they are complete: see output.h. The state of an open one is in the system: a
// regular file without links is nameless, one that is the file of wf_output_beside() is to be renamed, all others are
// written in place.
#define _GNU_SOURCE  // O_TMPFILE
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

enum { MODE = 0666, MODE_BITS = 07777 };

static bool fail(const char *path, int error, wf_diag *diag) {
  wf_error(diag, wf_in_file(path), "cannot write the file: %s", strerror(error));
  return false;
}

char *wf_output_beside(const char *path) { return wf_format("%s.%ld.part", path, (long)getpid()); }

// Whether a new file can take the place of what the path names.
static bool can_replace(const char *path) {
  struct stat status;
  if (lstat(path, &status) != 0) return errno == ENOENT;
  return S_ISREG(status.st_mode) && status.st_nlink == 1;
}

static int open_nameless(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash == NULL ? wf_strdup(".") : wf_format("%.*s", (int)(slash - path + 1), path);
  const int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, MODE);
  wf_free(folder);
  return file;
}

// A folder in which nothing can be made may have files that can be written.
static int open_file(const char *path) {
  const bool is_file = can_replace(path) && *path != '\0';
  if (is_file && access(path, F_OK) == 0 && access(path, W_OK) != 0) return -1;
  int file = is_file ? open_nameless(path) : -1;
  if (file < 0 && is_file) {
    char *beside = wf_output_beside(path);
    file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, MODE);
    wf_free(beside);
  }
  return file >= 0 ? file : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, MODE);
}

FILE *wf_output_open(const char *path, wf_diag *diag) {
  const int file = open_file(path);
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  if (out == NULL) fail(path, errno, diag);
  return out;
}

typedef enum { IN_PLACE, NAMELESS, BESIDE } output_kind;

static output_kind kind_of(FILE *out, const char *beside) {
  struct stat own, other;
  if (fstat(fileno(out), &own) != 0 || !S_ISREG(own.st_mode)) return IN_PLACE;
  if (own.st_nlink == 0) return NAMELESS;
  return stat(beside, &other) == 0 && own.st_ino == other.st_ino && own.st_dev == other.st_dev ? BESIDE : IN_PLACE;
}

static bool give_name(FILE *out, const char *beside) {
  char *own = wf_format("/proc/self/fd/%d", fileno(out));
  bool good = linkat(AT_FDCWD, own, AT_FDCWD, beside, AT_SYMLINK_FOLLOW) == 0;
  if (!good && errno == EEXIST)  // of a process that was killed
    good = unlink(beside) == 0 && linkat(AT_FDCWD, own, AT_FDCWD, beside, AT_SYMLINK_FOLLOW) == 0;
  wf_free(own);
  return good;
}

static void keep_mode(FILE *out, const char *path) {
  struct stat before;
  if (stat(path, &before) == 0 && fchmod(fileno(out), before.st_mode & MODE_BITS) != 0) return;
}

bool wf_output_close(FILE *out, const char *path, wf_diag *diag) {
  char *beside = wf_output_beside(path);
  const output_kind kind = kind_of(out, beside);
  errno = 0;
  bool good = fflush(out) == 0 && !ferror(out);
  if (good && kind != IN_PLACE) keep_mode(out, path);
  if (good && kind == NAMELESS) good = give_name(out, beside);
  int error = errno;
  if (fclose(out) != 0 && good) good = false, error = errno;
  if (good && kind != IN_PLACE && rename(beside, path) != 0) good = false, error = errno;
  if (!good && kind != IN_PLACE) unlink(beside);
  wf_free(beside);
  return good || fail(path, error == 0 ? EIO : error, diag);
}

void wf_output_drop(FILE *out, const char *path) {
  char *beside = wf_output_beside(path);
  if (kind_of(out, beside) == BESIDE) unlink(beside);
  fclose(out);
  wf_free(beside);
}

// Pipes would wait for their reader, and what is there is not touched.
bool wf_output_check(const char *path, wf_diag *diag) {
  struct stat status;
  if (stat(path, &status) == 0) {
    if (S_ISDIR(status.st_mode)) return fail(path, EISDIR, diag);
    return access(path, W_OK) == 0 || fail(path, errno, diag);
  }
  FILE *out = wf_output_open(path, diag);
  if (out == NULL) return false;
  wf_output_drop(out, path);
  return true;
}

bool wf_output_publish(const char *beside, const char *path, wf_diag *diag) {
  bool good;
  if (can_replace(path)) {
    good = rename(beside, path) == 0 || fail(path, errno, diag);
  } else {
    size_t length;
    char *bytes = wf_read_file(beside, 0, &length, diag);
    FILE *out = bytes == NULL ? NULL : wf_output_open(path, diag);
    if (out != NULL) fwrite(bytes, 1, length, out);
    good = out != NULL && wf_output_close(out, path, diag);
    wf_free(bytes);
  }
  unlink(beside);
  return good;
}
