/* net/handle.h - a libldap handle over a transport. It sets every option that a configuration file could set. */
#ifndef SKV_NET_HANDLE_H
#define SKV_NET_HANDLE_H

#include "net/code.h"
#include "net/transport.h"
#include "net/uri.h"

/* Makes a handle on a transport, with the options of libldap's configuration. `uri` is for libldap's messages. Release
 * with skv_handle_free(), before the transport. */
skv_ldap_code skv_handle_attach(skv_transport *transport, const char *uri, LDAP **ld);

/* Makes a handle with our options, or returns NULL with the reply filled. Release with skv_handle_free(), before the
 * transport. */
LDAP *skv_handle_new(skv_transport *transport, const skv_uri *uri, skv_deadline *deadline, skv_reply *reply);

/*
 * The fork handlers, which the pool calls. A fork waits until a first use of libldap has ended, for at most
 * SKV_FORK_WAIT_MS in a process. After that time, the child inherits libldap half-initialised and locked, and
 * skv_handle_new() fails with SKV_UNAVAILABLE in it. The limit is longer than the resolver's timeout for one name
 * server.
 */
#define SKV_FORK_WAIT_MS 6000
void skv_handle_before_fork(void);
void skv_handle_after_fork(void);

/* Sends an unbind, if the transport is not muted, and frees. NULL has no effect. */
void skv_handle_free(LDAP *ld);

/* The response of a server to a request. */
typedef struct skv_response {
    skv_ldap_code code;
    char text[256];     /* the server's diagnostic message, cut; "" for none */
    char referral[256]; /* the first URI of a referral; "" for none */
} skv_response;

/* Parses a response, and frees the message. Returns false if it is malformed. */
bool skv_response_read(LDAP *ld, LDAPMessage *message, skv_response *response);

/* Waits for the response to a request; `rc` is the result of sending it. Returns false if the connection failed. */
bool skv_response_wait(LDAP *ld, int rc, int message_id, LDAPMessage **message);

#endif
