/* rules/reader.h - the state of reading rules: the place in a rule, for messages. */
#ifndef SKV_RULES_READER_H
#define SKV_RULES_READER_H

#include "base/deadline.h"

#include <jansson.h>

/* The costs of compiling regular expressions: see limits.h. */
typedef struct skv_compiled {
    size_t size, slow_ranges;
} skv_compiled;

typedef struct skv_reader {
    skv_buf place;   /* of the value that is read, such as "actions[1].args.path"; "" for the rule */
    json_t *actions; /* an object whose members have the names of the site's actions */
    skv_reply *reply;
    skv_deadline *deadline;   /* borrowed; has the cancel handle */
    skv_compiled rule, rules; /* of this rule, and of all so far */
} skv_reader;

/* Lengthen the place for a member or an element. Return its length before, for skv_buf_truncate(). After a failure the
 * place stays that of the wrong value. */
size_t skv_place_member(skv_buf *place, const char *name);
size_t skv_place_element(skv_buf *place, size_t index);

/* Fails with SKV_INVALID and the place of the member if the object has one that `names`, which end in NULL, do not
 * list. */
skv_status skv_refuse_unknown(skv_reader *reader, json_t *object, const char *const *names);

/* Returns the text of a string; NULL for any other value, and for a string that contains NUL. */
const char *skv_text_of(const json_t *value);

#endif
