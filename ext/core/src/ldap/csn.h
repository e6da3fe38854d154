/* ldap/csn.h - change sequence numbers of OpenLDAP: the date of a change, and the server that made it. */
#ifndef SKV_LDAP_CSN_H
#define SKV_LDAP_CSN_H

#include "base/buf.h"

#define SKV_CSN_LEN 40 /* 20261126010203.000004Z#000000#001#000000 */
#define SKV_CSNS_MAX 16

/* The last change of each server that makes changes. */
typedef struct skv_csns {
    int count;
    char csn[SKV_CSNS_MAX][SKV_CSN_LEN + 1]; /* one for each server, each ends in a NUL */
} skv_csns;

/* Reads numbers that are separated by ';'. Returns false if they are malformed, none, or too many. */
bool skv_csns_parse(const char *text, size_t len, skv_csns *csns);

/* Takes the later number of each server, and those of further servers. Returns false if there are too many. */
bool skv_csns_merge(skv_csns *csns, const skv_csns *more);

/* Appends the numbers, as skv_csns_parse() takes them. */
void skv_csns_put(skv_buf *buf, const skv_csns *csns);

/* Returns true if a change is older than the last one of its server, by more than 2 s. The number of the change may be
 * malformed. */
bool skv_csns_are_after(const skv_csns *csns, const char *csn);

/* Returns true if each server of `older` is in `newer`, with the same number or a later one. */
bool skv_csns_are_later(const skv_csns *newer, const skv_csns *older);

/* Returns true if both have the same numbers. */
bool skv_csns_are_equal(const skv_csns *a, const skv_csns *b);

#endif
