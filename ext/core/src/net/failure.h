/* net/failure.h - the kinds of failure of an attempt to connect, and the words for them. */
#ifndef SKV_NET_FAILURE_H
#define SKV_NET_FAILURE_H

#include "net/transport.h"
#include "net/uri.h"

/* The kinds of failure of an attempt to connect. The kind tells the pool if another server may succeed. */
typedef enum skv_conn_failure {
    SKV_CONN_OK,
    SKV_CONN_UNREACHABLE, /* refused, no route, name unknown, silent, wrong certificate, 51, 52: another may succeed */
    SKV_CONN_REFUSED,     /* the server refused the credentials: another attempt counts against the account */
    SKV_CONN_WRONG_PASSWORD, /* the server refused identity->password (49) */
    SKV_CONN_REJECTED,       /* a file of this machine is missing or wrong: every server fails alike */
    SKV_CONN_STOPPED         /* interrupt, out of memory */
} skv_conn_failure;

/* Returns SKV_CONN_STOPPED for SKV_INTERRUPTED and SKV_NOMEM, else SKV_CONN_UNREACHABLE. */
skv_conn_failure skv_failure_of(skv_status status);

/* Fails the reply with a status of skv_deadline_poll(), or SKV_UNAVAILABLE for a closed connection, in the middle of
 * `doing`. */
skv_status skv_fail_wait(skv_reply *reply, skv_status status, const skv_uri *uri, const char *doing);

/* Fails the reply in the same way for a connection whose transport has failed, or that the server has closed. */
skv_conn_failure skv_fail_lost(skv_reply *reply, const skv_transport *transport, const skv_uri *uri, const char *doing);

#endif
