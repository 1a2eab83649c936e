// SPDX-License-Identifier: Apache-2.0
// `weft bench`: the program weft-bench with the same arguments, which measures the internals of the library and so is
// linked with them. It lies beside the tool in a build, and in libexec where both are installed.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const char *const places[] = {"weft-bench", WEFT_BENCH};  // from the folder of the tool

// The file of this program, to be freed; NULL: it is not known.
static char *own_path(void) {
  enum { PATH_MOST = 4096 };
  char path[PATH_MOST];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return NULL;
  path[length] = '\0';
  return cli_copy(path);
}

// Comes back only if the program is not there, or cannot be run.
static void run_beside(char *tool, char **argv) {
  const int folder = (int)(strrchr(tool, '/') - tool);
  argv[0] = tool;  // of which `weft bench all` runs further verbs
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char *path = cli_format("%.*s/%s", folder, tool, places[i]);
    execv(path, argv);
    if (errno != ENOENT) cli_error(path, "cannot run it: %s", strerror(errno));
    free(path);
  }
}

cli_exit cli_bench(int argc, char **argv) {
  char **words = cli_resize(NULL, (size_t)argc + 2, sizeof *words);
  for (int i = 0; i < argc; i++) words[i + 1] = argv[i];
  words[argc + 1] = NULL;
  char *tool = own_path();
  fflush(NULL);
  if (tool != NULL) run_beside(tool, words);
  free(tool);
  free(words);
  fputs(
      "weft: error: the program weft-bench is not installed\n"
      "  hint: the package weft-bench has it; of a build: cmake --install BUILD --component weft-bench\n",
      stderr);
  return CLI_CANNOT_BUILD;
}
