/*
 * net/transport.h - the socket under libldap. All waiting happens here: every wait ends at the operation's deadline, or
 * when its cancel handle fires. libldap sees neither SIGPIPE nor EINTR. TLS lies above the transport. A transport
 * belongs to one thread at a time.
 */
#ifndef SKV_NET_TRANSPORT_H
#define SKV_NET_TRANSPORT_H

#include "base/deadline.h"
#include "net/uri.h"

#include <lber.h>

typedef struct skv_transport skv_transport;

/* Takes over a connected, non-blocking socket. Returns NULL when out of memory, and closes the socket then. */
skv_transport *skv_transport_new(int fd);

/* Closes the socket, wipes the bytes that were read ahead, and frees. No Sockbuf may use it any more. */
void skv_transport_free(skv_transport *transport);

/* Closes the socket only: every later read and write fails. Async-signal-safe. */
void skv_transport_shut(skv_transport *transport);

/* Returns the socket, which stays the transport's. */
int skv_transport_fd(const skv_transport *transport);

/* Makes the transport the lowest layer of a Sockbuf. It stays the caller's, and must outlive the Sockbuf. Returns 0, or
 * -1 when out of memory. */
int skv_transport_attach(skv_transport *transport, Sockbuf *sockbuf);

/* Sets the deadline of later reads and writes (borrowed; NULL: never wait), and resets skv_transport_has_sent() and the
 * limit of skv_transport_limit_silence(). */
void skv_transport_limit(skv_transport *transport, skv_deadline *deadline);

/* Sets the longest wait of later reads and writes for the peer. A longer one is a timeout before the deadline. */
void skv_transport_limit_silence(skv_transport *transport, int64_t ns);

/* The bytes of messages that a server may send until the connection is open: the responses to StartTLS and bind, and
 * its root DSE. */
#define SKV_OPENING_MAX ((size_t)1 << 20)

/* Lets the server send any number of messages. */
void skv_transport_lift_budget(skv_transport *transport);

/* Counts a message. Returns false if it is more than the server may send. */
bool skv_transport_spend(skv_transport *transport, size_t bytes);

/* Stops sending and reading: the unbind of libldap does not reach the server. */
void skv_transport_mute(skv_transport *transport);

/* Ends the connection: later reads and writes fail, for that reason. Sets errno, and returns -1, as a read of a Sockbuf
 * does. */
ber_slen_t skv_transport_fail(skv_transport *transport, skv_status status);

/* Returns why reading or writing failed: SKV_OK (it did not), SKV_TIMEOUT, SKV_INTERRUPTED, SKV_NOMEM, SKV_UNAVAILABLE
 * (the connection is lost), SKV_MALFORMED (the server has sent what is no LDAP). A failed transport stays failed. */
skv_status skv_transport_failure(const skv_transport *transport);

/* With `resumable`, an interrupt does not fail a read: the read fails with EAGAIN, and the rest can be read later. With
 * `patient`, neither does the deadline. */
void skv_transport_set_resumable(skv_transport *transport, bool resumable, bool patient);

/* Returns which of them has ended a read since skv_transport_limit(): SKV_INTERRUPTED, SKV_TIMEOUT; SKV_OK for none. */
skv_status skv_transport_paused(const skv_transport *transport);

/* Returns true if a byte was handed to the socket since skv_transport_limit(). */
bool skv_transport_has_sent(const skv_transport *transport);

/* Returns true if the peer has not closed the connection, by one system call. Without TLS, bytes to read on an idle
 * connection mean its end as well: the server can only have sent a notice of disconnection. */
bool skv_transport_is_alive(const skv_transport *transport, bool tls);

/* ---- Failures of an attempt to connect */

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
 * `doing`. SKV_MALFORMED makes the reply SKV_UNAVAILABLE, in words of its own. */
skv_status skv_fail_wait(skv_reply *reply, skv_status status, const skv_uri *uri, const char *doing);

/* Fails the reply in the same way for a connection whose transport has failed, or that the server has closed. */
skv_conn_failure skv_fail_lost(skv_reply *reply, const skv_transport *transport, const skv_uri *uri, const char *doing);

#endif
