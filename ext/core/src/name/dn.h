/* name/dn.h - parsing of distinguished names. */
#ifndef SKV_NAME_DN_H
#define SKV_NAME_DN_H

#include "base/reply.h"

#define SKV_RDN_VALUE_MAX 1024

/* One RDN, its value unescaped. */
typedef struct skv_rdn {
    const char *type; /* in the DN */
    size_t type_len;
    char value[SKV_RDN_VALUE_MAX];
    size_t len;
} skv_rdn;

/* Parses the first RDN of a DN. Returns false if it is malformed. */
bool skv_rdn_first(const char *dn, size_t len, skv_rdn *out);

/* Parses the RDN at *rest, in a DN that ends at `end`, and moves *rest to the next one. Returns false if it is
 * malformed. */
bool skv_rdn_next(const char **rest, const char *end, skv_rdn *out);

/* Returns true if the RDN has that attribute type; ignores case. */
bool skv_rdn_is(const skv_rdn *rdn, const char *type);

/* Returns true if the RDN is the ou of that name; ignores case. */
bool skv_rdn_is_ou(const skv_rdn *rdn, const char *name);

/* Replaces the digits of a simpkvHexId by the name that they encode. Returns false for another attribute or malformed
 * digits. */
bool skv_rdn_unhex(skv_rdn *rdn);

/* Works as skv_dn_from_path(), below the DN above "globals" and "environments", which must be well-formed. */
skv_status skv_dn_below(int layout, int kind, const char *above, size_t above_len, const char *path, size_t path_len,
                        skv_reply *reply);

/* Returns the number of RDNs of a DN; 0 for the empty one. */
int skv_dn_depth(const char *dn, size_t len);

/* Returns the DN without its first `rdns` RDNs. */
const char *skv_dn_above(const char *dn, size_t len, int rdns);

#endif
