/* ldap/known.h - what a watch knows of its folder: the keys and folders below it, and the version of each. A change is
 * what makes a difference to that. */
#ifndef SKV_LDAP_KNOWN_H
#define SKV_LDAP_KNOWN_H

#include "ldap/below.h"
#include "ldap/csn.h"
#include "ldap/sync.h"
#include "ldap/version.h"

typedef struct skv_ldap_known {
    json_t
        *versions; /* owned: of each key by its path; a folder's path ends in a slash. NULL before the first refresh */
    json_t *fresh; /* owned: the same for a refresh that is under way, else NULL */
    skv_ldap_below below;
    skv_reply *found; /* owned: records of entries */
    bool is_behind;   /* a change does not fit what is known: only a refresh tells */
} skv_ldap_known;

/* What to report of a refresh. */
typedef enum skv_known_report {
    SKV_KNOWN_NOTHING,
    SKV_KNOWN_SINCE,      /* the keys that were changed since a cookie */
    SKV_KNOWN_DIFFERENCES /* from what was known before */
} skv_known_report;

/* Starts a refresh. What is known remains until its end. Returns SKV_OK, or the call's failure. */
skv_status skv_ldap_known_begin(skv_ldap_known *known, skv_ldap_call *call, const skv_key *folder, const char *dn);
void skv_ldap_known_free(skv_ldap_known *known);

/* Notes an entry of a refresh. */
skv_status skv_ldap_known_note(skv_ldap_known *known, skv_ldap_call *call, const skv_ldap_entry *entry);

/* Ends the refresh, and adds what is to be reported to a page, with that cookie. */
skv_status skv_ldap_known_settle(skv_ldap_known *known, skv_known_report report, const skv_csns *since,
                                 const char *cookie, skv_reply *page);

/* Adds a change to a page, unless it makes no difference. */
skv_status skv_ldap_known_change(skv_ldap_known *known, skv_ldap_call *call, const skv_ldap_entry *entry,
                                 skv_sync_change change, const char *cookie);

/* Forgets all keys, and adds their deletions to a page. */
void skv_ldap_known_forget(skv_ldap_known *known, const char *cookie, skv_reply *page);

#endif
