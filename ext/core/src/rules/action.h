/* rules/action.h - the actions of rules. */
#ifndef SKV_RULES_ACTION_H
#define SKV_RULES_ACTION_H

#include "rules/inspection.h"

/* Carries out the action that has begun. The action fail sets `failed`, which ends the inspection. Returns false after
 * a failure, as the functions of an inspection do. */
bool skv_action_perform(skv_inspection *inspection);

/* Returns an object with the uuid of the rule as the member `name`, and its description, as far as it has them. Returns
 * NULL when out of memory. */
json_t *skv_rule_object(const skv_rule *rule, const char *name);

#endif
