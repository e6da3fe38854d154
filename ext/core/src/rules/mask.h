/*
 * rules/mask.h - hides values from rules: members with the name of a secret, and paths that a sensitive rule wrote.
 *
 * A mask belongs to one tree (the node, or the plugin data) of one inspection, and to one thread. It holds the marks of
 * the paths that sensitive rules wrote. A rule is known by a number of the caller's that is not negative, such as its
 * position. Marks follow the elements of lists when earlier elements are deleted.
 */
#ifndef SKV_RULES_MASK_H
#define SKV_RULES_MASK_H

#include "rules/pointer.h"
#include "rules/secret_name.h"

#define SKV_MASKED "******"

typedef struct skv_mask {
    json_t *marks; /* NULL without marks */
} skv_mask;

/* {0} is a mask without marks as well. */
void skv_mask_free(skv_mask *mask);

/* The rule that reads. */
typedef struct skv_mask_reader {
    const skv_secret_names *names; /* members with these names are masked; or NULL */
    int rule;     /* the number of a sensitive rule, which reads what it wrote itself; -1 for other readers */
    size_t *work; /* increased by the number of values that were searched or copied; or NULL */
} skv_mask_reader;

/*
 * Reads what `names` name in the tree, as that reader sees it. Returns a new reference. The result is SKV_MASKED if the
 * path passes through a masked member or ends at one; a container with masked members is copied, with SKV_MASKED in
 * their places; anything else is the value itself, which must not be changed. Returns NULL and leaves the reply alone
 * if there is nothing; a missing member below a masked one counts as masked. Returns NULL and fails the reply when out
 * of memory. `mask` may be NULL: nothing is marked (the inventory). `count` may be 0: the tree.
 *
 * The explanation of a change reads its `before` and `after` with this, too, as a reader with `names`, and without a
 * rule.
 */
json_t *skv_mask_read(const skv_mask *mask, skv_mask_reader reader, json_t *tree, const char *const *names,
                      size_t count, skv_reply *reply);

/* The same for a tree that does not change and has no marks, without searching it again each time. *masked is NULL at
 * first; the caller releases it when it has finished reading. */
json_t *skv_mask_read_unchanged(json_t **masked, const skv_secret_names *secrets, json_t *tree,
                                const char *const *names, size_t count, skv_reply *reply);

typedef enum skv_change { SKV_CHANGE_SET, SKV_CHANGE_EXTEND, SKV_CHANGE_DELETE } skv_change;

/*
 * Keeps the marks right. Call it before each change of the tree by a pointer. `rule` is the number of the sensitive
 * rule that changes the tree, or -1 for any other rule. Setting by a sensitive rule marks the path, setting by another
 * rule removes marks at the path and below it (a rule can only write what it sees); extending by a sensitive rule marks
 * the list; deleting removes marks. Returns SKV_OK or SKV_NOMEM.
 */
skv_status skv_mask_change(skv_mask *mask, json_t *tree, const skv_pointer *pointer, skv_change change, int rule,
                           skv_reply *reply);

/* Appends the marked paths to a list, as JSON pointers behind `prefix` (such as "/node"). Sets *list to NULL when out
 * of memory, as skv_json_append() does. */
void skv_mask_list(const skv_mask *mask, const char *prefix, json_t **list);

#endif
