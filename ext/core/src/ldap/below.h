/* ldap/below.h - the entries below a folder, as a search of the whole answers them: their paths, and which of them are
 * simpkv's. */
#ifndef SKV_LDAP_BELOW_H
#define SKV_LDAP_BELOW_H

#include "ldap/call.h"
#include "name/dn.h"

#include <jansson.h>

/* What a list says of an entry. */
typedef struct skv_ldap_record {
    char kind;
    const char *body; /* borrowed */
    size_t len;
} skv_ldap_record;

typedef struct skv_ldap_below {
    int layout;
    const skv_key *folder; /* borrowed */
    int depth;             /* of the folder's DN */
    int level;             /* names in the folder's path */
    json_t *folders;       /* owned, in the hex layout: the paths of those that were found, as a set */
    skv_reply *orphans;    /* owned, with that: records of what may be below a folder that comes later */
    size_t next;           /* of these */
    bool settled;          /* no folder comes any more */
} skv_ldap_below;

/* Starts with nothing, for a search below the DN of a folder: SKV_OK, or the reply's failure. */
int skv_ldap_below_begin(skv_ldap_below *below, const skv_ldap_store *store, const skv_key *folder, const char *dn,
                         skv_reply *reply);
void skv_ldap_below_end(skv_ldap_below *below);

/* Whether that is the folder's own DN. */
bool skv_ldap_below_is_top(const skv_ldap_below *below, const struct berval *dn);

/* Adds the record of an entry of ours to a page, with its path as the name; at once, or when its folder has been found.
 * `leaf` is the first RDN of the DN. Leaves out what no walk from folder to folder would come to. */
void skv_ldap_below_add(skv_ldap_below *below, const struct berval *dn, const skv_rdn *leaf,
                        const skv_ldap_record *record, skv_reply *page);

/* When all entries have come: adds records that have waited for their folder, until the page has `bytes`. */
void skv_ldap_below_add_rest(skv_ldap_below *below, size_t bytes, skv_reply *page);

#endif
