/* ldap/sync.h - the controls and messages by which a server tells of changes: content synchronization (RFC 4533), and
 * persistent search. All of a server's bytes may be malformed. */
#ifndef SKV_LDAP_SYNC_H
#define SKV_LDAP_SYNC_H

#include "net/code.h"

#include <ldap.h>
#include <stdbool.h>

/* Create the critical control of a search that sends all entries and then each change; or each change alone. The caller
 * frees it with ldap_control_free(). Return LDAP_SUCCESS, or libldap's error. */
skv_ldap_code skv_sync_control(LDAPControl **control);
skv_ldap_code skv_persistent_search_control(LDAPControl **control);

/* What an entry's control tells. */
typedef enum skv_sync_change {
    SKV_SYNC_SEEN, /* it exists */
    SKV_SYNC_ADDED,
    SKV_SYNC_CHANGED,
    SKV_SYNC_RENAMED, /* only of a persistent search */
    SKV_SYNC_DELETED,
} skv_sync_change;

/* A server's note of how far its changes have come. */
typedef struct skv_sync_cookie {
    bool is_given;
    size_t len;      /* 0 for a longer one than `text` takes */
    char text[1024]; /* does not end in a NUL */
} skv_sync_cookie;

/* Read the control of an entry. Return false if there is none, or it is malformed. */
bool skv_sync_read_state(LDAPControl **controls, skv_sync_change *change, skv_sync_cookie *cookie);
bool skv_persistent_search_read_change(LDAPControl **controls, skv_sync_change *change);

/* What a message between the entries tells. */
typedef struct skv_sync_info {
    skv_sync_cookie cookie;
    bool is_refreshed; /* all entries were sent */
    bool has_ids;      /* it names entries by UUID only */
} skv_sync_info;

/* Reads such a message. Returns false if it is malformed. */
bool skv_sync_read_info(const struct berval *value, skv_sync_info *info);

/* Finds the change sequence numbers in a cookie of OpenLDAP. Returns false if there are none. */
bool skv_sync_find_csns(const skv_sync_cookie *cookie, const char **csns, size_t *len);

#endif
