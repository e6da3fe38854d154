/* rules/pattern.h - regular expressions (PCRE2, UTF-8) with limits. */
#ifndef SKV_RULES_PATTERN_H
#define SKV_RULES_PATTERN_H

#include "base/deadline.h"

/* A compiled expression. Immutable: several threads may match it at once. */
typedef struct skv_pattern skv_pattern;

/* `whole`: the expression must match the whole text, else some part of it. Sets *out to a pattern that the caller frees
 * with skv_pattern_free(), or to NULL. Returns SKV_OK; SKV_INVALID with the offset and PCRE2's reason, without the
 * expression; SKV_TOO_LARGE above SKV_PATTERN_SIZE_MAX; SKV_NOMEM. */
skv_status skv_pattern_compile(const char *text, size_t len, bool whole, skv_pattern **out, skv_reply *reply);

/* Accepts NULL. */
void skv_pattern_free(skv_pattern *pattern);

/* Returns how many ranges of an expression take milliseconds to compile, at most. */
size_t skv_pattern_slow_ranges(const char *text, size_t len);

/* Returns the number of bytes of the compiled expression: the time to compile it grows with it. */
size_t skv_pattern_size(const skv_pattern *pattern);

/* Memory and limits of the matches of an inspection. Used by one thread at a time. */
typedef struct skv_matcher skv_matcher;

/* Returns NULL when out of memory. Release with skv_matcher_free(). Borrows the deadline, whose handle ends a match. */
skv_matcher *skv_matcher_new(skv_deadline *deadline);

/* Accepts NULL. */
void skv_matcher_free(skv_matcher *matcher);

/* Sets *matched. Returns SKV_OK; SKV_TOO_LARGE with the limit that the match exceeded (SKV_PATTERN_SUBJECT_MAX, PCRE2's
 * match, depth or heap limit), or all matches of the matcher together (SKV_INSPECTION_PATTERN_WORK_MAX); SKV_INVALID
 * for a text that is not UTF-8; SKV_INTERRUPTED; SKV_NOMEM. The text appears in no message. */
skv_status skv_pattern_match(const skv_pattern *pattern, skv_matcher *matcher, const char *text, size_t len,
                             bool *matched, skv_reply *reply);

#endif
