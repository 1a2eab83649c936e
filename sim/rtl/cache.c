// SPDX-License-Identifier: Apache-2.0
// The build cache: see cache.h.
#define _GNU_SOURCE  // nftw
#include "sim/rtl/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"

enum { OPEN_FOLDERS = 8 };

static char *root(wf_diag *diag) {
  const char *own = getenv("WEFT_CACHE"), *shared = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (own != NULL && own[0] != '\0') return wf_strdup(own);
  if (shared != NULL && shared[0] != '\0') return wf_format("%s/weft", shared);
  if (home != NULL && home[0] != '\0') return wf_format("%s/.cache/weft", home);
  wf_error(diag, wf_in_file(NULL), "no place for built models: neither WEFT_CACHE nor XDG_CACHE_HOME nor HOME is set");
  return NULL;
}

// Makes a directory and those above it.
static bool make_directories(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool good = mkdir(path, 0777) == 0 || errno == EEXIST;
    *slash = '/';
    if (!good) return false;
  }
  return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

static void remove_tree(const char *path) { nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS); }

static bool is_directory(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// ---- the list of files: a line for each, DIGEST SIZE NAME, and one that ends the list

#define LIST ".files"
enum { NAME_BYTES = 256 };

static bool digest_of(const char *path, uint64_t *digest, size_t *size) {
  wf_diag quiet = wf_diag_to(NULL);
  char *bytes = wf_read_file(path, 0, size, &quiet);
  if (bytes == NULL) return false;
  *digest = wf_hash(WF_HASH_START, bytes, *size);
  wf_free(bytes);
  return true;
}

static bool is_as_listed(const char *folder, const char *name, uint64_t digest, size_t size) {
  char *path = wf_format("%s/%s", folder, name);
  struct stat status;
  uint64_t found;
  size_t length;
  const bool good = stat(path, &status) == 0 && (uint64_t)status.st_size == size && digest_of(path, &found, &length) &&
                    length == size && found == digest;
  wf_free(path);
  return good;
}

static bool is_whole(const char *folder) {
  char *path = wf_format("%s/" LIST, folder), name[NAME_BYTES];
  FILE *list = fopen(path, "r");
  wf_free(path);
  uint64_t digest;
  size_t size;
  bool good = list != NULL, ended = false;
  while (good && !ended && fscanf(list, "%" SCNx64 " %zu %255s", &digest, &size, name) == 3) {
    ended = strcmp(name, LIST) == 0;
    good = ended || is_as_listed(folder, name, digest, size);
  }
  if (list != NULL) fclose(list);
  return good && ended;
}

static bool to_disk(const char *path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const bool good = file >= 0 && fsync(file) == 0;
  if (file >= 0) close(file);
  return good;
}

static bool list_file(const char *folder, const char *name, FILE *list) {
  char *path = wf_format("%s/%s", folder, name);
  uint64_t digest;
  size_t size;
  const bool good = strlen(name) < NAME_BYTES && digest_of(path, &digest, &size) && to_disk(path);
  if (good) fprintf(list, "%016" PRIx64 " %zu %s\n", digest, size, name);
  wf_free(path);
  return good;
}

static bool write_list(const char *folder) {
  char *path = wf_format("%s/" LIST, folder);
  FILE *list = fopen(path, "w");
  DIR *directory = opendir(folder);
  bool good = list != NULL && directory != NULL;
  const struct dirent *file;
  while (good && (file = readdir(directory)) != NULL)
    if (strcmp(file->d_name, ".") != 0 && strcmp(file->d_name, "..") != 0 && strcmp(file->d_name, LIST) != 0)
      good = list_file(folder, file->d_name, list);
  if (directory != NULL) closedir(directory);
  if (list != NULL) {
    fprintf(list, "0 0 " LIST "\n");
    good = fclose(list) == 0 && good;
  }
  good = good && to_disk(path) && to_disk(folder);
  wf_free(path);
  return good;
}

// ---- entries

static bool is_present(const sim_cache_entry *entry) { return is_directory(entry->path) && is_whole(entry->path); }

static bool take_lock(sim_cache_entry *entry, const char *path, void (*waiting)(void *context), void *context) {
  entry->lock = open(path, O_RDWR | O_CREAT, 0666);  // children shall hold it too: no O_CLOEXEC
  if (entry->lock < 0) return false;
  if (flock(entry->lock, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) return false;
  if (waiting != NULL) waiting(context);
  int got;
  while ((got = flock(entry->lock, LOCK_EX)) != 0 && errno == EINTR) continue;
  return got == 0;
}

static bool prepare(sim_cache_entry *entry, char *folder, const char *key, void (*waiting)(void *context),
                    void *context) {
  if (!make_directories(folder)) return false;
  char *lock = wf_format("%s/%s.lock", folder, key);
  bool good = take_lock(entry, lock, waiting, context);
  wf_free(lock);
  if (!good && entry->lock >= 0) {  // another process's building directory must not be touched
    close(entry->lock);
    entry->lock = -1;
  }
  if (!good) return false;
  entry->present = is_present(entry);  // another process may have built it meanwhile
  if (entry->present) return true;
  remove_tree(entry->path);
  remove_tree(entry->building);
  return mkdir(entry->building, 0777) == 0;
}

bool sim_cache_open(sim_cache_entry *entry, const char *key, void (*waiting)(void *context), void *context,
                    wf_diag *diag) {
  *entry = (sim_cache_entry){.lock = -1};
  char *folder = root(diag);
  if (folder == NULL) return false;
  entry->path = wf_format("%s/%s", folder, key);
  entry->building = wf_format("%s/%s.building", folder, key);
  entry->present = is_present(entry);
  bool good = entry->present || prepare(entry, folder, key, waiting, context);
  if (!good) {
    wf_error(diag, wf_in_file(folder), "cannot use the cache directory: %s", strerror(errno));
    wf_hint(diag, "name another one in the environment variable WEFT_CACHE");
    sim_cache_close(entry);
  }
  wf_free(folder);
  return good;
}

bool sim_cache_publish(sim_cache_entry *entry, wf_diag *diag) {
  entry->present = write_list(entry->building) && rename(entry->building, entry->path) == 0;
  if (entry->present) {
    char *folder = wf_format("%s/..", entry->path);
    to_disk(folder);
    wf_free(folder);
  } else {
    wf_error(diag, wf_in_file(entry->path), "cannot put the built directory in its place: %s", strerror(errno));
  }
  return entry->present;
}

void sim_cache_close(sim_cache_entry *entry) {
  if (entry->lock >= 0) {
    if (!entry->present) remove_tree(entry->building);
    close(entry->lock);
  }
  wf_free(entry->path);
  wf_free(entry->building);
  *entry = (sim_cache_entry){.lock = -1};
}
