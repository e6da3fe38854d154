/* ldap/search.h - searches that answer any number of entries, page by page. */
#ifndef SKV_LDAP_SEARCH_H
#define SKV_LDAP_SEARCH_H

#include "ldap/call.h"

/* A search under way on the call's connection. Either it is read to its end, or the connection is given up. */
typedef struct skv_ldap_search_state {
    const char *dn; /* borrowed */
    int scope;
    const char *const *attributes;
    LDAPMessage *page, *next; /* what has come, owned: all of a page or one message; and what is to be read next */
    struct berval cookie;     /* owned: where the server goes on */
    bool in_pages, requested, last, over;
    int id; /* of what was asked for */
} skv_ldap_search_state;

/*
 * Reads the next entry: LDAP_SUCCESS with *entry set, which is good until the next call; or to NULL at the end of a
 * page: is the search over then? When the first entry of a page is read, the next page has been asked for. Otherwise
 * the answer, which the caller frees, says what is wrong, and skv_ldap_search_failed() fails the reply. The limits of
 * each round trip are the call's.
 */
int skv_ldap_search_next(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_answer *answer,
                         LDAPMessage **entry);

/* As skv_ldap_fail(), but a limit of the server is TOO_LARGE, and named, with the setting that lifts it. */
int skv_ldap_search_failed(skv_ldap_call *call, const skv_ldap_answer *answer);

/* Wipes and frees what the search holds. If more is to come, its connection becomes unusable. */
void skv_ldap_search_end(skv_ldap_call *call, skv_ldap_search_state *search);

#endif
