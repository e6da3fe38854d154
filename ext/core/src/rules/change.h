/* rules/change.h - the actions that change the node and the plugin data. */
#ifndef SKV_RULES_CHANGE_H
#define SKV_RULES_CHANGE_H

#include "rules/inspection.h"

/* Carries out the change that has begun, and describes it in `changes` if that is a list. Returns false after a
 * failure, as the functions of an inspection do. */
bool skv_change_perform(skv_inspection *inspection);

#endif
