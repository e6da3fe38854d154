/*
 * net/tls_context.h - the files and settings of TLS on a handle. ldap.conf, ldaprc and LDAPTLS_* have no effect. The
 * connections of a pool share the contexts of the TLS library that are made of them, until one of the files changes.
 * Reading a bundle of CAs takes milliseconds; and libldap 2.5 with GnuTLS never frees 8 KB of each context, and 18 KB
 * of one with a client certificate.
 */
#ifndef SKV_NET_TLS_CONTEXT_H
#define SKV_NET_TLS_CONTEXT_H

#include "net/connection.h"

/* Makes an empty context; NULL when out of memory. Its use is thread-safe. A fork holds it locked. */
skv_tls_context *skv_tls_context_new(void);
void skv_tls_context_free(skv_tls_context *context);
void skv_tls_context_lock(skv_tls_context *context);
void skv_tls_context_unlock(skv_tls_context *context);

/* The purpose of a connection. The last two find out why a handshake failed: they offer no client certificate, and
 * nothing is sent after them. */
typedef enum skv_tls_purpose {
    SKV_TLS_TO_USE,        /* verifies certificate and host name, with TLS 1.2 or newer */
    SKV_TLS_TO_LOOK,       /* verifies the certificate, but takes any host name */
    SKV_TLS_TO_LOOK_AT_ANY /* takes any certificate */
} skv_tls_purpose;
#define SKV_TLS_PURPOSES 3

/* Prepares the handle for a handshake. Returns false with the reply filled if a file is missing, unreadable or
 * malformed, or if the key does not belong to the certificate. */
bool skv_tls_configure(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_tls_purpose purpose,
                       skv_reply *reply);

#endif
