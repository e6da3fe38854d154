/* name/dn.h - distinguished names, taken apart. */
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

/* Reads the first RDN of a DN; false if that is none. */
bool skv_rdn_first(const char *dn, size_t len, skv_rdn *out);

/* Reads the RDN at *rest, which moves to the next one, in a DN that ends there; false if it is none. */
bool skv_rdn_next(const char **rest, const char *end, skv_rdn *out);

/* Whether the RDN is of that attribute: without regard to case. */
bool skv_rdn_is(const skv_rdn *rdn, const char *type);

/* Whether it is the ou of that name: without regard to case. */
bool skv_rdn_is_ou(const skv_rdn *rdn, const char *name);

/* Replaces a simpkvHexId's digits by what they say; false if they are none, or it is another attribute. */
bool skv_rdn_unhex(skv_rdn *rdn);

/* As skv_dn_from_path(), for who has the DN above "globals" and "environments" already, and knows that it is one. */
skv_status skv_dn_below(int layout, int kind, const char *above, size_t above_len, const char *path, size_t path_len,
                        skv_reply *reply);

/* How many RDNs a DN has; 0 for the empty one. */
int skv_dn_depth(const char *dn, size_t len);

/* The DN behind its first RDNs, of which there are so many. */
const char *skv_dn_above(const char *dn, size_t len, int rdns);

#endif
