/* ldap/limit.h - the largest message that a server accepts. Both servers close the connection on a larger one. */
#ifndef SKV_LDAP_LIMIT_H
#define SKV_LDAP_LIMIT_H

#include "ldap/call.h"

/* The most bytes of a request beside its DN and its documents. */
#define SKV_LDAP_OVERHEAD 512

/* Checks that the server accepts a change of the call's entry with that many bytes of documents. Returns SKV_OK, or the
 * reply's failure: SKV_TOO_LARGE, with the server's setting. Reads that setting once a connection, before the first
 * large request. */
skv_status skv_ldap_check_size(skv_ldap_call *call, size_t documents_len);

/* Fails the reply as skv_ldap_fail() does, for a write with a document of that size. When the connection broke during a
 * large one, says that it probably exceeds the server's limit. Returns the reply's status. */
skv_status skv_ldap_fail_write(skv_ldap_call *call, const skv_ldap_response *response, size_t document_len);

#endif
