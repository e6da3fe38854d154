/*
 * tls_context.h - what TLS on a handle goes by: our files and settings, and nothing of ldap.conf, ldaprc or LDAPTLS_*.
 * The context made of them (libldap's, which is to say the TLS library's) is shared by a pool's connections, until one
 * of the files changes: reading a bundle of CAs takes milliseconds, and libldap leaks a little with each context.
 */
#ifndef SKV_TLS_CONTEXT_H
#define SKV_TLS_CONTEXT_H

#include "conn.h"

/* Answers an empty one, or NULL when out of memory. Thread-safe to use, but for forks: a fork holds it locked. */
skv_tls_context *skv_tls_context_new(void);
void skv_tls_context_free(skv_tls_context *context);
void skv_tls_context_lock(skv_tls_context *context);
void skv_tls_context_unlock(skv_tls_context *context);

/* Makes the handle verify certificate and host name, with TLS 1.2 or newer. False with the reply filled: a file that is
 * missing, unreadable or not what it should be, or a key that is not the certificate's. */
bool skv_tls_configure(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_reply *reply);

/* Makes the handle take a certificate for any host name, and unless `trusted` from any CA and of any time as well: to
 * look at it, and to send nothing. */
bool skv_tls_configure_to_look(LDAP *ld, const skv_identity *identity, bool trusted);

#endif
