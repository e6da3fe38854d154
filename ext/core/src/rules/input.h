/* rules/input.h - the input of an inspection. */
#ifndef SKV_RULES_INPUT_H
#define SKV_RULES_INPUT_H

#include "rules/inspection.h"

/* Fills the first members of the inspection from the JSON, which stays the owner of what they refer to, except of
 * `discovered`. Adds members to the JSON that it lacks. Sets *phases to the sum of 1 << SKV_PHASE_*. Returns SKV_OK;
 * SKV_INVALID or SKV_TOO_LARGE with the member that is wrong; SKV_NOMEM. The caller frees marks and `discovered` in any
 * case. */
skv_status skv_input_read(skv_inspection *inspection, json_t *input, unsigned *phases);

#endif
