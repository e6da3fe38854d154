/* net/resolve.h - resolution of host names within a deadline. */
#ifndef SKV_NET_RESOLVE_H
#define SKV_NET_RESOLVE_H

#include "base/deadline.h"
#include "net/uri.h"

#include <netdb.h>

/* The most resolutions that run at once. More of them wait for a place, within their deadlines. */
#define SKV_RESOLVERS_MAX 16

/*
 * Returns the addresses of a URI's host, which the caller frees with freeaddrinfo(); NULL with the reply filled:
 * UNAVAILABLE (name unknown), TIMEOUT, INTERRUPTED, NOMEM. getaddrinfo() has no deadline. It therefore runs in a
 * detached thread, unless the host is a numeric address.
 */
struct addrinfo *skv_resolve(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply);

/* Forgets the running resolutions, whose threads are the parent's. The pool calls it in the child of a fork. */
void skv_resolve_after_fork(void);

#endif
