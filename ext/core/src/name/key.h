/* name/key.h - keys as paths: one segment after another, none of them able to leave its folder. */
#ifndef SKV_NAME_KEY_H
#define SKV_NAME_KEY_H

#include "base/reply.h"

/*
 * Writes prefix and key, joined and without empty segments, into `out`, which has room for SKV_KEY_MAX + 1 bytes, with
 * a NUL that *out_len does not count. Either may be empty; so may the result. Fails as skv_key_join() does.
 */
skv_status skv_key_normalise(const char *prefix, size_t prefix_len, const char *key, size_t key_len, char *out,
                             size_t *out_len, skv_reply *reply);

/* Walks the segments of a path: *segment and *len are the next one that is not empty, from *rest on, which moves behind
 * it. False at the end. */
bool skv_key_next(const char **rest, const char *end, const char **segment, size_t *len);

/* Fails unless the segment may be one: not "." or "..", no NUL, at most SKV_KEY_SEGMENT_MAX bytes. */
skv_status skv_key_check_segment(const char *segment, size_t len, skv_reply *reply);

/* Whether a name can be a segment. */
bool skv_key_is_segment(const char *name, size_t len);

/* What a message quotes of a name: its start, without NUL. */
#define SKV_QUOTE_MAX 512
typedef struct skv_quote {
    char text[SKV_QUOTE_MAX];
} skv_quote;

skv_quote skv_quoted(const char *name, size_t len);

#endif
