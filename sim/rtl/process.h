// Running compilers: programs from PATH, without a shell, their output into a log file.
#ifndef SIM_RTL_PROCESS_H
#define SIM_RTL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
  SIM_PROCESS_DONE,
  SIM_PROCESS_MISSING,  // there is no such program
  SIM_PROCESS_FAILED,   // it could not be run, or ended with an exit code other than 0
} sim_process_result;

// Ends with NULL; argv[0] is looked up in PATH.
typedef const char *const *sim_process_argv;

// Runs all of them, at most `jobs` at a time, and stops starting more after a failure. Output is appended to `log`.
sim_process_result sim_process_run(const sim_process_argv *commands, size_t count, unsigned jobs, const char *log);

// The first line that a program prints, without its end.
sim_process_result sim_process_line(sim_process_argv command, char *line, size_t size);

#endif
