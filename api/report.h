// SPDX-License-Identifier: Apache-2.0
// Reports: texts of one thing in several forms.
#ifndef API_REPORT_H
#define API_REPORT_H

#include "api/private.h"

// A form by its name, and what writes it.
typedef struct api_form {
  const char *name;
  void (*write)(const void *thing, const weft_run_form *form, FILE *out);
} api_form;

// What a thing has in the form that the caller wants, the first by default; a name ends the list. Begins and ends the
// call. NULL after it was refused.
char *api_report(weft_session *session, const char *what, const void *thing, const api_form *forms,
                 const weft_run_form *form);

#endif
