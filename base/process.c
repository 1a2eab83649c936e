// SPDX-License-Identifier: Apache-2.0
// Running compilers: see process.h. Children inherit what is open without close-on-exec, which is how a compiler that
// outlives a killed parent keeps the lock of its cache entry.
#define _GNU_SOURCE  // pipe2
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

extern char **environ;

enum { POLL_MILLISECONDS = 5 };

static wf_process_result start(wf_process_argv argv, const posix_spawn_file_actions_t *actions, pid_t *pid) {
  // The array is not written to; the prototype is older than const.
  union {
    wf_process_argv in;
    char *const *out;
  } args = {.in = argv};
  int error = posix_spawnp(pid, argv[0], actions, NULL, args.out, environ);
  if (error == 0) return WF_PROCESS_DONE;
  return error == ENOENT ? WF_PROCESS_MISSING : WF_PROCESS_FAILED;
}

static wf_process_result start_logged(wf_process_argv argv, const char *log, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  wf_process_result result = start(argv, &actions, pid);
  posix_spawn_file_actions_destroy(&actions);
  return result;
}

static wf_process_result ended(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? WF_PROCESS_DONE : WF_PROCESS_FAILED;
}

static wf_process_result wait_for(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return WF_PROCESS_FAILED;
  return ended(status);
}

// Takes the processes that have ended out of the list; true if there were any.
static bool reap(pid_t *running, size_t *count, wf_process_result *result) {
  size_t kept = 0, before = *count;
  for (size_t i = 0; i < before; i++) {
    int status = 0;
    pid_t got = waitpid(running[i], &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) {
      running[kept++] = running[i];
      continue;
    }
    wf_process_result one = got < 0 ? WF_PROCESS_FAILED : ended(status);
    if (*result == WF_PROCESS_DONE) *result = one;
  }
  *count = kept;
  return kept != before;
}

wf_process_result wf_process_run(const wf_process_argv *commands, size_t count, unsigned jobs, const char *log) {
  const struct timespec pause = {.tv_nsec = POLL_MILLISECONDS * 1000000L};
  pid_t *running = WF_NEW_ARRAY(jobs, pid_t);
  size_t alive = 0, next = 0;
  wf_process_result result = WF_PROCESS_DONE;
  while (alive != 0 || (next < count && result == WF_PROCESS_DONE)) {
    if (next < count && alive < jobs && result == WF_PROCESS_DONE) {
      result = start_logged(commands[next++], log, &running[alive]);
      if (result == WF_PROCESS_DONE) alive++;
    } else if (!reap(running, &alive, &result)) {
      nanosleep(&pause, NULL);
    }
  }
  wf_free(running);
  return result;
}

static void read_line(int from, char *line, size_t size) {
  size_t used = 0;
  char buffer[512];
  ssize_t got;
  // All of it is read so that the program does not die of a closed pipe.
  while ((got = read(from, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
    for (ssize_t i = 0; i < got; i++)
      if (used + 1 < size) line[used++] = buffer[i];
  line[used] = '\0';
  line[strcspn(line, "\r\n")] = '\0';
}

wf_process_result wf_process_line(wf_process_argv command, char *line, size_t size) {
  int ends[2];
  line[0] = '\0';
  if (pipe2(ends, O_CLOEXEC) != 0) return WF_PROCESS_FAILED;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid;
  wf_process_result result = start(command, &actions, &pid);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (result == WF_PROCESS_DONE) {
    read_line(ends[0], line, size);
    result = wait_for(pid);
  }
  close(ends[0]);
  return result;
}
