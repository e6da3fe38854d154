/* net/tls.h - TLS on a libldap handle, by our settings alone. */
#ifndef SKV_NET_TLS_H
#define SKV_NET_TLS_H

#include "net/connection.h"
#include "net/transport.h"

/* Whether connections to the server are protected, as it is configured. */
bool skv_tls_is_wanted(const skv_uri *uri, const skv_identity *identity);

/*
 * Does the handshake, after StartTLS if the URI is not ldaps://, on a handle on which nothing was done yet. Certificate
 * and host name are verified against identity->cacert, whatever ldap.conf, ldaprc or LDAP* say. After a failure nothing
 * more is sent, the reply says what is wrong with which file or certificate, and *failure is set.
 */
bool skv_tls_start(LDAP *ld, skv_transport *transport, const skv_uri *uri, const skv_identity *identity,
                   skv_deadline *deadline, skv_reply *reply, skv_conn_failure *failure);

/* What that came to, as far as libldap tells. */
void skv_tls_tell(LDAP *ld, skv_tls_facts *facts);

#endif
