/* name/key.h - keys as paths, whose segments cannot lead out of their folder. */
#ifndef SKV_NAME_KEY_H
#define SKV_NAME_KEY_H

#include "base/reply.h"

/*
 * Joins prefix and key without empty segments in `out`, which has room for SKV_KEY_MAX + 1 bytes. *out_len does not
 * count the NUL at the end. Prefix, key and result may be empty. Fails as skv_key_join() does.
 */
skv_status skv_key_normalise(const char *prefix, size_t prefix_len, const char *key, size_t key_len, char *out,
                             size_t *out_len, skv_reply *reply);

/* Finds the next segment of a path that is not empty, from *rest on, and moves *rest behind it. Returns false at the
 * end. */
bool skv_key_next(const char **rest, const char *end, const char **segment, size_t *len);

/* Fails for a segment that is "." or "..", contains NUL, or has more than SKV_KEY_SEGMENT_MAX bytes. */
skv_status skv_key_check_segment(const char *segment, size_t len, skv_reply *reply);

/* Returns true if a name can be a segment. */
bool skv_key_is_segment(const char *name, size_t len);

/* The part of a name that a message quotes: its start, without NUL. */
#define SKV_QUOTE_MAX 512
typedef struct skv_quote {
    char text[SKV_QUOTE_MAX];
} skv_quote;

skv_quote skv_quoted(const char *name, size_t len);

#endif
