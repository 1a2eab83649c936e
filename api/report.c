// SPDX-License-Identifier: Apache-2.0
// Reports: see report.h.
#include "api/report.h"

#include <stdlib.h>

enum { FORMS_MAX = 8 };

char *api_report(weft_session *s, const char *what, const void *thing, const api_form *forms,
                 const weft_run_form *form) {
  weft_run_form o = {0};
  const char *names[FORMS_MAX];
  int count = 0;
  if (!api_begin(s, what) || !api_given(s, thing, "what is reported") || !api_take(s, form, &o, sizeof o)) return NULL;
  for (; count < FORMS_MAX && forms[count].name != NULL; count++) names[count] = forms[count].name;
  if (count == 0) return api_refuse(s, "it has no report"), NULL;
  const int chosen = api_choice(s, "form", o.form, names, count);
  if (chosen < 0) return NULL;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out != NULL) forms[chosen].write(thing, &o, out);
  if (api_end(s, out != NULL && fclose(out) == 0, WEFT_CANNOT_BUILD) == WEFT_OK) return text;
  free(text);
  return NULL;
}
