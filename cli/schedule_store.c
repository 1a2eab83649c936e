// SPDX-License-Identifier: Apache-2.0
// The schedule store of a verb that compiles: see schedule_store.h.
#include "cli/schedule_store.h"

#include <inttypes.h>

cli_exit schedule_store_open(schedule_store *s, weft_session *session, const char *path, bool may_be_new) {
  *s = (schedule_store){.path = path, .session = session};
  if (path == NULL) return CLI_OK;
  s->store = weft_schedules_open(session, path, may_be_new);
  return cli_messages(session) ? CLI_OK : CLI_BAD_INPUT;
}

bool schedule_store_close(schedule_store *s, bool quiet) {
  if (s->store == NULL) return true;
  weft_schedules_use use = {.size = sizeof use};
  weft_schedules_used(s->store, &use);
  bool good = true;
  if (use.added > 0) {
    weft_schedules_save(s->session, s->store, s->path);
    good = cli_messages(s->session);
  }
  if (good && !quiet)
    fprintf(stderr,
            "weft: schedules %s: %" PRIu64 " layers known, %" PRIu64 " mappings carried over, %" PRIu64
            " more made smaller, %" PRIu64 " refused; %" PRIu64 " written\n",
            s->path, use.known, use.carried, use.made_small, use.refused, use.added);
  weft_schedules_destroy(s->store);
  *s = (schedule_store){0};
  return good;
}
