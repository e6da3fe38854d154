/* proxy.h - a proxy between a client and a directory server, with the faults of networks and busy servers. */
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
    PROXY_LOSE_REQUEST,  /* the connection breaks before the server gets the request */
    PROXY_LOSE_RESPONSE, /* the connection breaks after the server has done the request */
    PROXY_LATE_REQUEST,  /* the connection breaks, and the server gets the request `code` milliseconds later */
    PROXY_HOLD_REQUEST,  /* the server gets the request `code` milliseconds late */
    PROXY_HOLD_RESPONSE, /* the response comes `code` milliseconds late, unless the client leaves before */
    PROXY_RESPOND,       /* the proxy responds to the request with `code` */
    PROXY_ENTRY,         /* the proxy responds to a search with an entry, and then with `code` */
    PROXY_INTERMEDIATE,  /* an intermediate response (RFC 4511, 4.13) precedes the response */
    PROXY_UNSOLICITED    /* the server does the request; the response is a notice of disconnection with `code`, or with
                            0 an unsolicited one without a name, which libldap aborts at */
} proxy_fault;

/* A delay beyond the grace period of every interrupted call, even if the machine stalls meanwhile. */
#define PROXY_TOO_LATE_MS 4000

#define PROXY_CONNECTIONS 64

typedef struct proxy_link {
    struct proxy *proxy;
    pthread_t thread;
    int client, server;
    size_t left; /* the bytes left of the current request */
} proxy_link;

typedef struct proxy {
    char uri[64];
    int server_port, listener;
    pthread_t acceptor;
    proxy_link links[PROXY_CONNECTIONS];
    int count;            /* of links */
    pthread_mutex_t lock; /* for the members below */
    unsigned char tag;
    proxy_fault fault;
    int code, skip, times;
    int delivered;            /* of late requests */
    bool hide_assertion;      /* from the root DSE; set before the first connection */
    void (*meanwhile)(void);  /* see proxy_meanwhile() */
    const int *round_trips;   /* the number of requests of each, then 0; NULL: responses pass at once */
    long requests, responses; /* passed on since proxy_expect() */
} proxy;

/* Listens on a free port of loopback. */
bool proxy_begin(proxy *p, int server_port);

/* Stops listening, and breaks all connections. */
void proxy_end(proxy *p);

/* Lets `skip` requests with the tag pass, and applies the fault to the next `times` ones. */
void proxy_arm(proxy *p, unsigned char tag, proxy_fault fault, int code, int skip, int times);

/* Sets a function to be called before a held request is passed on, and after the server has done a request whose
 * response is lost. NULL removes it. */
void proxy_meanwhile(proxy *p, void (*call)(void));

/* Holds the responses of each round trip until all of its requests have come. `round_trips` ends with 0, and must stay
 * valid. A client that waits for a response too early, or sends more requests, gets none. With NULL, responses pass at
 * once again. */
void proxy_expect(proxy *p, const int *round_trips);

/* Returns true if all of these requests have come, and each had its response. */
bool proxy_was_met(proxy *p);

/* Returns the number of faults of all proxies. */
long proxy_faults(void);

/* Returns the number of faults that are left. */
int proxy_left(proxy *p);

/* Waits until no faults are left: the last one has begun. */
void proxy_await_faults(proxy *p);

/* Waits until the server has responded to that many late requests in all. */
void proxy_await_late(proxy *p, int count);

#endif
