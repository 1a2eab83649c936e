// SPDX-License-Identifier: Apache-2.0
// Running the tools of a synthesis: see tool.h.
#define _GNU_SOURCE  // nftw, posix_spawn_file_actions_addchdir_np
#include "hw/export/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

extern char **environ;

enum { OPEN_DIRECTORIES = 16 };

bool hw_tool_found(const char *name) {
  const char *path = getenv("PATH");
  bool found = false;
  for (const char *p = path; p != NULL && *p != '\0' && !found;) {
    const size_t length = strcspn(p, ":");
    char *file = wf_format("%.*s/%s", (int)length, p, name);
    found = access(file, X_OK) == 0;
    wf_free(file);
    p += length + (p[length] == ':');
  }
  return found;
}

int hw_tool_run(const char *const *argv, const char *directory, const char *log) {
  // The array is not written to; the prototype is older than const.
  union {
    const char *const *in;
    char *const *out;
  } args = {.in = argv};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid;
  const int error = posix_spawnp(&pid, argv[0], &actions, NULL, args.out, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return 127;
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
  (void)info;
  (void)kind;
  (void)place;
  return remove(path);
}

void hw_tool_remove(const char *directory) { nftw(directory, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS); }
