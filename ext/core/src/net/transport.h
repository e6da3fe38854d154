/*
 * net/transport.h - what libldap reads from and writes to: a socket of ours, with all waiting done here. Every wait
 * ends at the operation's deadline, or when its cancel handle says so; SIGPIPE and EINTR do not exist; TLS, where there
 * is any, lies above. A transport belongs to one thread at a time.
 */
#ifndef SKV_NET_TRANSPORT_H
#define SKV_NET_TRANSPORT_H

#include "base/deadline.h"

#include <lber.h>

typedef struct skv_transport skv_transport;

/* Bytes of one message, that is of one entry: a server that sends a larger one is hung up on. Servers take documents of
 * some megabytes at the most. */
#define SKV_INCOMING_MAX ((ber_len_t)64 << 20)

/* Takes over a connected, non-blocking socket. NULL when out of memory: the socket is closed then, too. */
skv_transport *skv_transport_new(int fd);

/* Closes the socket and frees; what was read ahead is wiped. No Sockbuf may use it any more. */
void skv_transport_free(skv_transport *transport);

/* Closes the socket only: every later read and write fails. Async-signal-safe. */
void skv_transport_shut(skv_transport *transport);

/* The socket, which stays the transport's. */
int skv_transport_fd(const skv_transport *transport);

/* Becomes the lowest layer of a Sockbuf. The transport stays the caller's, and must outlive the Sockbuf. 0, or -1 when
 * out of memory. */
int skv_transport_attach(skv_transport *transport, Sockbuf *sockbuf);

/* Sets the limits of what is read and written from now on (borrowed; NULL: never wait), and forgets what was sent. */
void skv_transport_limit(skv_transport *transport, skv_deadline *deadline);

/* From now on nothing is sent or read: what libldap says in parting does not reach the server. */
void skv_transport_mute(skv_transport *transport);

/* Why reading or writing failed: SKV_OK (it did not), SKV_TIMEOUT, SKV_INTERRUPTED, SKV_NOMEM, SKV_UNAVAILABLE (the
 * connection is lost). It stays failed. */
skv_status skv_transport_failure(const skv_transport *transport);

/* Whether an interrupt of a read is to be no failure: the read then answers EAGAIN, and the rest can be read later. */
void skv_transport_set_resumable(skv_transport *transport, bool resumable);

/* Whether that has happened since skv_transport_limit(). */
bool skv_transport_is_interrupted(const skv_transport *transport);

/* Whether a byte was handed to the socket since skv_transport_limit(). */
bool skv_transport_has_sent(const skv_transport *transport);

/* Whether the peer has not hung up, by one system call. Without TLS, anything to read on an idle connection counts as
 * its end as well: the server has nothing to say but farewell. */
bool skv_transport_is_alive(const skv_transport *transport, bool tls);

#endif
