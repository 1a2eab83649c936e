// SPDX-License-Identifier: Apache-2.0
// `weft isa table`: the instruction set as Markdown.
#include <string.h>

#include "api/include/weft/weft.h"
#include "cli/cli.h"

cli_exit cli_isa(int argc, char **argv) {
  static const cli_usage usage = {
      .verb = "isa",
      .synopsis = "table",
      .text = "Prints every instruction with its operand fields, legal values and unit, as Markdown.",
      .min_arguments = 1,
      .max_arguments = 1,
      .no_json = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, NULL, &argc, argv, &common, &code)) return code;
  if (strcmp(argv[0], "table") != 0) {
    fprintf(stderr, "weft: error: unknown action %s\n  hint: weft isa table\n", argv[0]);
    return CLI_USAGE;
  }
  fputs(weft_isa_reference(), stdout);
  return CLI_OK;
}
