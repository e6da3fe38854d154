/* net/tls.h - TLS on a libldap handle, with simpkv's settings only. */
#ifndef SKV_NET_TLS_H
#define SKV_NET_TLS_H

#include "net/connection.h"
#include "net/transport.h"

/* Returns true if the configuration asks for TLS with the server. */
bool skv_tls_is_wanted(const skv_uri *uri, const skv_identity *identity);

/*
 * Does the handshake on a new handle, after StartTLS if the URI is not ldaps://. Verifies certificate and host name
 * against identity->cacert; ldap.conf, ldaprc and LDAP* have no effect. After a failure nothing more is sent, the reply
 * names the file or certificate and its error, and *failure is set.
 */
bool skv_tls_start(LDAP *ld, skv_transport *transport, const skv_uri *uri, const skv_identity *identity,
                   skv_deadline *deadline, skv_reply *reply, skv_conn_failure *failure);

/* Describes the TLS of a handle, as far as libldap can. */
void skv_tls_describe(LDAP *ld, skv_tls_facts *facts);

#endif
