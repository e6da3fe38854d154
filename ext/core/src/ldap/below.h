/* ldap/below.h - the entries of a tree, as one search of the subtree returns them, in any order: their paths, without
 * the entries of other programs. */
#ifndef SKV_LDAP_BELOW_H
#define SKV_LDAP_BELOW_H

#include "ldap/call.h"
#include "name/dn.h"

#include <jansson.h>
#include <string.h>

/* A record of a list. */
typedef struct skv_ldap_record {
    char kind;
    const char *body; /* borrowed */
    size_t len;
} skv_ldap_record;

static inline skv_ldap_record skv_ldap_error_record(const char *why)
{
    return (skv_ldap_record){'e', why, strlen(why)};
}

typedef struct skv_ldap_below {
    int layout;
    bool notes_keys;
    const skv_key *folder; /* borrowed */
    int depth;             /* of the folder's DN */
    int level;             /* the number of names in the folder's path */
    json_t *paths;         /* owned; in the hex layout: true for each folder that has come, false for each noted key */
    skv_reply *orphans;    /* owned; in the hex layout: records whose folder has not come yet */
    size_t next;           /* of the orphans: the next one to add */
    bool settled;          /* no orphan is a folder of another one */
} skv_ldap_below;

/* Returns the record of an entry in a list of the folder, or an error record if no key can have its name or its path.
 * `leaf` is the first RDN of the DN, decoded; `path_len` the length of the path below the folder. */
skv_ldap_record skv_ldap_checked_record(const skv_key *folder, const skv_ldap_record *record, const skv_rdn *leaf,
                                        size_t path_len);

/* Starts for a search below the DN of a folder. Returns SKV_OK, or the reply's failure. In the hex layout it keeps the
 * paths of all folders until skv_ldap_below_end(). With `notes_keys`, which is for lists, it keeps those of all keys as
 * well, so that an entry below a key is left out, and not an error. A watch, which has no end, notes no keys: there a
 * deleted folder comes as a key. */
skv_status skv_ldap_below_begin(skv_ldap_below *below, const skv_ldap_store *store, const skv_key *folder,
                                const char *dn, bool notes_keys, skv_reply *reply);
void skv_ldap_below_end(skv_ldap_below *below);

/* Returns true for the DN of the folder itself. */
bool skv_ldap_below_is_top(const skv_ldap_below *below, const struct berval *dn);

/* Adds the record of an entry to a page, with its path as the name; later, if its folder has not come yet. `leaf` is
 * the first RDN of the DN. Leaves out an entry whose path has an entry of another program in it. */
void skv_ldap_below_add(skv_ldap_below *below, const struct berval *dn, const skv_rdn *leaf,
                        const skv_ldap_record *record, skv_reply *page);

/* Drops the orphans: no folder of theirs is to come. */
void skv_ldap_below_drop_orphans(skv_ldap_below *below);

/* Adds the orphans until the page has `bytes`; those whose folders have not come as errors, except below keys. Called
 * when all entries have come. */
void skv_ldap_below_add_rest(skv_ldap_below *below, size_t bytes, skv_reply *page);

#endif
