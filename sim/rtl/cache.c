// SPDX-License-Identifier: Apache-2.0
// The build cache: see cache.h.
#define _GNU_SOURCE  // nftw
#include "sim/rtl/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

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
  entry->present = is_directory(entry->path);  // another process may have built it meanwhile
  if (entry->present) return true;
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
  entry->present = is_directory(entry->path);
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
  entry->present = rename(entry->building, entry->path) == 0;
  if (!entry->present)
    wf_error(diag, wf_in_file(entry->path), "cannot rename the built directory: %s", strerror(errno));
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
