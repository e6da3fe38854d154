/* rules/condition.h - the conditions of rules. */
#ifndef SKV_RULES_CONDITION_H
#define SKV_RULES_CONDITION_H

#include "rules/inspection.h"

/* Tests the condition that has begun. Stops at the item that decides, and leaves it in `item`. Returns false after a
 * failure, as the functions of an inspection do. */
bool skv_condition_test(skv_inspection *inspection, bool *holds);

#endif
