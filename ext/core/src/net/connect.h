/* net/connect.h - from a URI to a connected socket, within a deadline that name lookup obeys too. */
#ifndef SKV_NET_CONNECT_H
#define SKV_NET_CONNECT_H

#include "base/deadline.h"
#include "net/uri.h"

/*
 * Answers a connected socket (non-blocking, CLOEXEC; TCP with keepalive and TCP_NODELAY), which the caller closes, or
 * -1 with the reply filled: UNAVAILABLE, DENIED (the socket of ldapi), TIMEOUT, INTERRUPTED, NOMEM. Of a host's several
 * addresses, the next one is tried when one failed, or was silent for 250 ms; the first to answer is taken. A name is
 * looked up in a thread of its own, which is left to itself at the deadline.
 */
int skv_connect(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply);

#endif
