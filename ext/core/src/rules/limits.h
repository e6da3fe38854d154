/* rules/limits.h - the limits of rules and of an inspection. An error names the limit that was exceeded. */
#ifndef SKV_RULES_LIMITS_H
#define SKV_RULES_LIMITS_H

#include "simpkv_rules.h"

/* Rules, when they are created. SKV_RULES_MAX, their number, is in simpkv_rules.h. */
#define SKV_RULE_SIZE_MAX 65536 /* bytes of JSON */
#define SKV_RULE_DEPTH_MAX 32   /* brackets in each other */
#define SKV_RULE_TEXT_MAX 255   /* characters of a description or a scope */
#define SKV_RULE_CONDITIONS_MAX 100
#define SKV_RULE_ACTIONS_MAX 100
#define SKV_PATTERN_SIZE_MAX 4096 /* bytes of a regular expression */
/* All rules together. */
#define SKV_RULES_SIZE_MAX 16777216 /* bytes of JSON */
/* The constant regular expressions, of a rule and of all rules: bytes when they are compiled, and
 * skv_pattern_slow_ranges(), each of which takes 3 ms to compile. */
#define SKV_RULE_COMPILED_MAX 1048576
#define SKV_RULES_COMPILED_MAX 67108864
#define SKV_RULE_SLOW_RANGES_MAX 100
#define SKV_RULES_SLOW_RANGES_MAX 3000

/* An inspection. */
#define SKV_VALUE_DEPTH_MAX 100 /* brackets in each other, in node, inventory and plugin data */
#define SKV_LOOP_ITEMS_MAX 1000
#define SKV_INSPECTION_STEPS_MAX 200000 /* conditions and actions; each iteration of a loop counts */
#define SKV_INSPECTION_EFFECTS_MAX 1000
#define SKV_INSPECTION_GROWTH_MAX 1048576        /* bytes that actions write to node, plugin data and effects */
#define SKV_INSPECTION_EXPLAINED_MAX 8388608     /* bytes of values in an explanation, which then has none */
#define SKV_INSPECTION_TEXT_MAX 67108864         /* bytes of all interpolated strings together */
#define SKV_TEMPLATE_TEXT_MAX 65536              /* bytes of one interpolated string */
#define SKV_PATTERN_SUBJECT_MAX 65536            /* bytes of a text that a regular expression is matched with */
#define SKV_INSPECTION_PATTERN_WORK_MAX 50000000 /* of all regular expressions: see pattern.c */
#define SKV_PATTERN_MATCH_MAX 100000             /* PCRE2's match limit */
#define SKV_PATTERN_DEPTH_MAX 10000              /* PCRE2's depth limit */
#define SKV_PATTERN_HEAP_MAX 4096                /* PCRE2's heap limit, in KiB */

#endif
