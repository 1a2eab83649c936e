// SPDX-License-Identifier: Apache-2.0
// Files that come with the library: kernels and descriptions as text. See weft.h.
#include "api/example_files.h"
#include "api/private.h"
#include "compiler/layer/kernel_files.h"

weft_status weft_file_at(size_t index, weft_file *file) {
  if (index >= layer_kernel_file_count + api_example_file_count) return WEFT_USAGE;
  const bool kernel = index < layer_kernel_file_count;
  const wf_text_file *from = kernel ? &layer_kernel_files[index] : &api_example_files[index - layer_kernel_file_count];
  const weft_file full = {.name = from->name, .text = from->text};
  return api_give(&full, sizeof full, file);
}
