/* net/handle.h - a libldap handle over a transport, on which every option that a configuration file could set is ours.
 */
#ifndef SKV_NET_HANDLE_H
#define SKV_NET_HANDLE_H

#include "net/code.h"
#include "net/transport.h"
#include "net/uri.h"

/* Makes a handle on a transport, with the options of libldap's configuration. `uri` is for libldap's messages. Release
 * with skv_handle_free(), before the transport. */
skv_ldap_code skv_handle_attach(skv_transport *transport, const char *uri, LDAP **ld);

/* A handle for the connected transport, or NULL with the reply filled. Release with skv_handle_free(), before the
 * transport. */
LDAP *skv_handle_new(skv_transport *transport, const skv_uri *uri, skv_deadline *deadline, skv_reply *reply);

/*
 * The fork handlers, which the pool calls. A fork waits for a first use of libldap that is under way, for at most
 * SKV_FORK_WAIT_MS a process: a child that is forked meanwhile inherits libldap half-initialised and locked, and
 * skv_handle_new() answers SKV_UNAVAILABLE in it. The limit is longer than the resolver's timeout for one name server.
 */
#define SKV_FORK_WAIT_MS 6000
void skv_handle_before_fork(void);
void skv_handle_after_fork(void);

/* Says farewell, as far as the transport lets it, and frees. */
void skv_handle_free(LDAP *ld);

/* What a server answered to a request: its result code, and its words, for messages. */
typedef struct skv_answer {
    skv_ldap_code code;
    char text[256];     /* the server's diagnostic message, cut; "" for none */
    char referral[256]; /* the first URI of a referral; "" for none */
} skv_answer;

/* Takes an answer apart, and frees the message. False when it is malformed. */
bool skv_answer_read(LDAP *ld, LDAPMessage *message, skv_answer *answer);

/* Sends nothing; waits for the answer to a request whose sending answered `rc`. False when the connection failed. */
bool skv_answer_wait(LDAP *ld, int rc, int message_id, LDAPMessage **message);

#endif
