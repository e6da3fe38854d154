/* ldap_search.h - searches that answer any number of entries: page by page, and one by one within a page. */
#ifndef SKV_LDAP_SEARCH_H
#define SKV_LDAP_SEARCH_H

#include "ldap_call.h"

/* A search under way on the call's connection. Either it is read to its end, or the connection is given up. */
typedef struct skv_ldap_search_state {
    const char *dn; /* borrowed */
    int scope;
    const char *const *attributes;
    struct berval cookie; /* owned: where the server goes on */
    bool started, over;
    int id; /* of the page's request */
} skv_ldap_search_state;

/*
 * Reads the next entry into answer->message, which the caller frees with skv_ldap_answer_free(): LDAP_SUCCESS with an
 * entry, or without one at the end of a page; then the search is over, or the next page has been asked for. Otherwise
 * the answer says what is wrong; skv_ldap_search_failed() then fails the reply. The limits of each round trip are the
 * call's.
 */
int skv_ldap_search_next(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_answer *answer);

/* As skv_ldap_fail(), but a limit of the server is TOO_LARGE, and named, with the setting that lifts it. */
int skv_ldap_search_failed(skv_ldap_call *call, const skv_ldap_answer *answer);

/* Frees what the search holds. If it is not over, its connection becomes unusable. */
void skv_ldap_search_end(skv_ldap_call *call, skv_ldap_search_state *search);

#endif
