/* net/resolve.h - host names, looked up within a deadline. */
#ifndef SKV_NET_RESOLVE_H
#define SKV_NET_RESOLVE_H

#include "base/deadline.h"
#include "net/uri.h"

#include <netdb.h>

/* The most lookups that run at once; more of them wait their turn, within their deadlines. */
#define SKV_RESOLVERS_MAX 16

/*
 * The addresses of a URI's host, which the caller frees with freeaddrinfo(); NULL with the reply filled: UNAVAILABLE
 * (name unknown), TIMEOUT, INTERRUPTED, NOMEM. getaddrinfo() knows no deadline, so that it runs in a detached thread
 * with all signals blocked, unless the host is a numeric address.
 */
struct addrinfo *skv_resolve(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply);

/* Runs a function in a detached thread with all signals blocked, which are for threads of the program. 0 or an errno.
 */
int skv_thread_start(void *(*run)(void *), void *argument);

/* Forgets the lookups under way, whose threads are the parent's. Called in the child, by the pool. */
void skv_resolve_after_fork(void);

#endif
