/* proxy.h - stands between a client and a directory server, and does to single requests what networks and busy servers
 * do. */
#ifndef SKV_TEST_PROXY_H
#define SKV_TEST_PROXY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The requests of LDAP, by their tags. */
#define PROXY_BIND 0x60
#define PROXY_SEARCH 0x63
#define PROXY_MODIFY 0x66
#define PROXY_ADD 0x68
#define PROXY_DELETE 0x4a

typedef enum proxy_fault {
    PROXY_LOSE_REQUEST, /* the connection breaks before the server gets it */
    PROXY_LOSE_ANSWER,  /* after it was carried out */
    PROXY_LATE_REQUEST, /* before the server gets it, which it does `code` milliseconds after */
    PROXY_HOLD_REQUEST, /* the server gets it `code` milliseconds late */
    PROXY_HOLD_ANSWER,  /* the answer comes `code` milliseconds late */
    PROXY_ANSWER,       /* the proxy answers it, with `code` */
    PROXY_INTERMEDIATE  /* before its answer comes an intermediate response (RFC 4511, 4.13), which means nothing */
} proxy_fault;

#define PROXY_CONNECTIONS 64

typedef struct proxy_link {
    struct proxy *proxy;
    pthread_t thread;
    int client, server;
    size_t left; /* bytes of the request that is passing */
} proxy_link;

typedef struct proxy {
    char uri[64];
    int server_port, listener;
    pthread_t acceptor;
    proxy_link links[PROXY_CONNECTIONS];
    int count;            /* of links */
    pthread_mutex_t lock; /* for what follows */
    unsigned char tag;
    proxy_fault fault;
    int code, skip, times;
    int delivered;             /* of late requests */
    bool hide_assertion;       /* from the root DSE; set before the first connection */
    void (*before_loss)(void); /* called when a request was carried out, before its answer is lost; NULL for none */
    const int *round_trips;    /* how many requests each has, and 0; NULL for no such limit */
    long requests, answers;    /* passed on since then */
} proxy;

/* Listens on a free port of loopback. */
bool proxy_begin(proxy *p, int server_port);

/* Stops listening, and breaks all connections. */
void proxy_end(proxy *p);

/* Does that to `times` requests with the tag, after letting `skip` of them pass. */
void proxy_arm(proxy *p, unsigned char tag, proxy_fault fault, int code, int skip, int times);

/* From now on, holds the answers of each round trip until all of its requests have come. The numbers of requests end
 * with 0, and must stay there. A client that waits for an answer before it has sent them, or sends more requests, gets
 * none. With NULL, answers pass again as they come. */
void proxy_expect(proxy *p, const int *round_trips);

/* Return true if all of these requests have come and were answered. */
bool proxy_was_met(proxy *p);

/* How many requests proxies have done something to. */
long proxy_faults(void);

/* How many of the requests that it was armed for have not come. */
int proxy_left(proxy *p);

/* Waits until so many late requests have been answered by the server, in all. */
void proxy_await_late(proxy *p, int count);

#endif
