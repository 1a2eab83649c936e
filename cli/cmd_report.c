// `weft report`: the page and the figures of a sweep.
#include "cli/cli.h"
#include "search/report/report.h"
#include "weft_version.h"

int cli_report(int argc, char **argv) {
  const char *dir = NULL, *title = NULL;
  bool no_pictures = false;
  const cli_option table[] = {
      {"o", WF_OPTION_TEXT, &dir, "DIR", "the directory to write (made if it is not there)"},
      {"title", WF_OPTION_TEXT, &title, "TEXT", "of the page (default: the sweep's name)"},
      {"no-pictures", WF_OPTION_FLAG, &no_pictures, NULL, "no SVG and PNG, which need gnuplot"},
  };
  const cli_usage usage = {
      .verb = "report",
      .synopsis = "STORE|DIR -o OUT",
      .text =
          "Writes what a sweep found out as a page that a browser shows without a network, DIR/index.html,\n"
          "and its figures as CSV, SVG and PNG, DIR/figures (docs/report.md).",
      .options = table,
      .option_count = sizeof table / sizeof *table,
      .min_arguments = 1,
      .max_arguments = 1};
  cli_common common;
  int code = CLI_OK;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  wf_diag diag = wf_diag_to(stderr);
  if (dir == NULL) {
    fprintf(stderr, "weft: error: -o DIR says where the report goes\n");
    return CLI_USAGE;
  }
  const report_options options = {.title = title, .version = WEFT_GIT_VERSION, .pictures = !no_pictures};
  if (!report_write(argv[0], dir, &options, &diag)) return CLI_BAD_INPUT;
  if (!common.quiet) printf("%s/index.html\n", dir);
  return CLI_OK;
}
