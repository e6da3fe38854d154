/* net/connect.h - from a URI to a connected socket, within a deadline that holds for the resolution of the name too. */
#ifndef SKV_NET_CONNECT_H
#define SKV_NET_CONNECT_H

#include "base/deadline.h"
#include "net/uri.h"

/*
 * Returns a connected socket (non-blocking, CLOEXEC; TCP with keepalive and TCP_NODELAY), which the caller closes, or
 * -1 with the reply filled: UNAVAILABLE, DENIED (the socket of ldapi), TIMEOUT, INTERRUPTED, NOMEM. If a host has
 * several addresses, tries the next one when one has failed or was silent for 250 ms, and takes the first that accepts.
 * A thread of its own resolves the name; at the deadline the call leaves it alone.
 */
int skv_connect(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply);

#endif
