/* ldap/search.h - searches for any number of entries, page by page. */
#ifndef SKV_LDAP_SEARCH_H
#define SKV_LDAP_SEARCH_H

#include "ldap/call.h"

/* A search on the call's connection. It is either read to its end, or the connection becomes invalid. */
typedef struct skv_ldap_search_state {
    const char *dn; /* borrowed */
    int scope;
    const char *filter; /* as of skv_ldap_search() */
    const char *const *attributes;
    LDAPMessage *page, *next; /* received messages: all of a page, or one; owned. The next one to read. */
    struct berval cookie;     /* owned: the start of the next page */
    bool in_pages, requested, last, over;
    bool has_entries; /* the server has sent one */
    int page_size;    /* 0 before the first request */
    int id;           /* of the request */
} skv_ldap_search_state;

/*
 * Reads the next entry. Returns LDAP_SUCCESS with *entry set, which is valid until the next call, or set to NULL at the
 * end of a page: search->over tells if it was the last one. The next page is requested when the first entry of a page
 * is read. After another code, the response, which the caller frees, describes the failure, and
 * skv_ldap_search_failed() fails the reply. LDAP_NO_SUCH_OBJECT comes before any entry; behind one, it becomes
 * LDAP_PARTIAL_RESULTS. The limits of each round trip are the call's.
 */
skv_ldap_code skv_ldap_search_next(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_response *response,
                                   LDAPMessage **entry);

/* Fails the reply as skv_ldap_fail() does. For a limit of the server: TOO_LARGE, with the server's text and the
 * settings that lift it. */
skv_status skv_ldap_search_failed(skv_ldap_call *call, const skv_ldap_response *response);

/* Wipes and frees the messages. Invalidates the connection if more entries are to come. */
void skv_ldap_search_end(skv_ldap_call *call, skv_ldap_search_state *search);

#endif
