/*
 * net/tls_context.h - what TLS on a handle goes by: our files and settings, and nothing of ldap.conf, ldaprc or
 * LDAPTLS_*. The contexts made of them (libldap's, which is to say the TLS library's) are shared by a pool's
 * connections, until one of the files changes. Reading a bundle of CAs takes milliseconds; and libldap 2.5 with GnuTLS
 * never frees 8 KB of each context, and 18 KB of one with a client certificate.
 */
#ifndef SKV_NET_TLS_CONTEXT_H
#define SKV_NET_TLS_CONTEXT_H

#include "net/connection.h"

/* Answers an empty one, or NULL when out of memory. Thread-safe to use, but for forks: a fork holds it locked. */
skv_tls_context *skv_tls_context_new(void);
void skv_tls_context_free(skv_tls_context *context);
void skv_tls_context_lock(skv_tls_context *context);
void skv_tls_context_unlock(skv_tls_context *context);

/* The purpose of a connection. Looking is for finding out why a handshake failed: nothing is sent after it, and no
 * client certificate is offered in it. */
typedef enum skv_tls_purpose {
    SKV_TLS_TO_USE,        /* verifies certificate and host name, with TLS 1.2 or newer */
    SKV_TLS_TO_LOOK,       /* verifies the certificate, but takes any host name */
    SKV_TLS_TO_LOOK_AT_ANY /* takes any certificate */
} skv_tls_purpose;
#define SKV_TLS_PURPOSES 3

/* Prepares the handle for a handshake. False with the reply filled: a file that is missing, unreadable or not what it
 * should be, or a key that is not the certificate's. */
bool skv_tls_configure(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_tls_purpose purpose,
                       skv_reply *reply);

#endif
