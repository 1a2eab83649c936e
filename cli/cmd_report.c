// SPDX-License-Identifier: Apache-2.0
// `weft report`: the page and the figures of a sweep, through libweft.
#include "api/include/weft/weft.h"
#include "cli/cli.h"

typedef struct report_arguments {
  const char *dir, *title, *fidelity;
  bool no_pictures;
} report_arguments;

static const wf_option report_rows[] = {
    {"o", WF_TEXT(report_arguments, dir), "DIR", "the directory to write (made if it is not there)"},
    {"title", WF_TEXT(report_arguments, title), "TEXT", "of the page (default: the sweep's name)"},
    {"fidelity", WF_TEXT(report_arguments, fidelity), "NAME",
     "the measurements of this engine, cycle or flow (default: the most exact that the store has)"},
    {"no-pictures", WF_FLAG(report_arguments, no_pictures), NULL, "no SVG and PNG, which need gnuplot"},
};

cli_exit cli_report(int argc, char **argv) {
  report_arguments o = {0};
  static const cli_usage usage = {
      .verb = "report",
      .synopsis = "STORE|DIR -o OUT",
      .text =
          "Writes what a sweep found out as a page that a browser shows without a network, DIR/index.html,\n"
          "and its figures as CSV, SVG and PNG, DIR/figures (docs/report.md).",
      .examples = "  weft report s.sqlite -o DIR\n",
      .options = {CLI_OPTIONS(report_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 1,
      .no_json = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &o, &argc, argv, &common, &code)) return code;
  if (o.dir == NULL) {
    fprintf(stderr, "weft: error: -o DIR says where the report goes\n");
    return CLI_USAGE;
  }
  const weft_report_options options = {
      .size = sizeof options, .title = o.title, .engine = o.fidelity, .without_pictures = o.no_pictures};
  weft_session *session = weft_session_create();
  const weft_status status = weft_report(session, argv[0], o.dir, &options);
  fputs(weft_session_messages(session), stderr);
  weft_session_destroy(session);
  if (status != WEFT_OK) return CLI_BAD_INPUT;
  if (!common.quiet) printf("%s/index.html\n", o.dir);
  return CLI_OK;
}
