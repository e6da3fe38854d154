/* ldap/limit.h - how much a server takes at once. */
#ifndef SKV_LDAP_LIMIT_H
#define SKV_LDAP_LIMIT_H

#include "ldap/call.h"

/* Whether a change of the call's entry that carries so many bytes of documents fits: SKV_OK, or the reply's failure,
 * SKV_TOO_LARGE with the server's setting. The server is asked once for a connection, and not for small ones. */
int skv_ldap_check_size(skv_ldap_call *call, size_t documents_len);

#endif
