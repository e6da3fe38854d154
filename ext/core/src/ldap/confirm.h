/*
 * ldap/confirm.h - writes to 389-DS. If a deletion meets a read of the same entry, this server can keep the entry half:
 * its cache shows it and its indexes do not (docs/adr/0054). It acknowledges a change of such an entry, and the entry
 * is gone then. So a write first reads the entry through an index, and replacements and deletions are confirmed by a
 * read. Only 389-DS needs this, and not for additions.
 */
#ifndef SKV_LDAP_CONFIRM_H
#define SKV_LDAP_CONFIRM_H

#include "ldap/entry.h"

/* Returns true if the server of the call's connection is a 389-DS. */
bool skv_ldap_needs_confirmation(const skv_ldap_call *call);

/*
 * Sends a read of an entry (SKV_READ_*) that does not show what 389-DS keeps of a deleted one: a search for the entry's
 * DN, below that DN. For a missing entry, the response is that of a base search, with the matched DN. For one that the
 * index lacks, it is a success without an entry, as for a hidden one; skv_ldap_entry_start_read() then tells which. On
 * other servers it sends that read. Returns LDAP_SUCCESS with *id set, or libldap's error.
 */
skv_ldap_code skv_ldap_start_indexed_read(skv_ldap_call *call, const char *dn, int wanted, int *id);

/* Fails the reply for a conditional replacement that was acknowledged, and whose entry is missing after that: nobody
 * can tell whether it took effect. */
skv_status skv_ldap_refuse_vanished(skv_ldap_call *call);

/*
 * Removes what 389-DS keeps of a deleted key: it writes the document of the entry again, after which the server shows
 * the entry only if it exists. Sets *exists if it does, because another client has put it. Returns SKV_OK, or the
 * reply's failure: SKV_UNAVAILABLE with the remedy if it cannot tell. Does nothing on other servers, and for a DN that
 * is not a key's.
 */
skv_status skv_ldap_remove_half_deleted(skv_ldap_call *call, const char *dn, bool *exists);

/* Fails the reply for an entry that 389-DS keeps half, and names the remedy. */
skv_status skv_ldap_refuse_half_deleted(skv_ldap_call *call);

#endif
