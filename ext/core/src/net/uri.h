/* net/uri.h - the address of a directory server. */
#ifndef SKV_NET_URI_H
#define SKV_NET_URI_H

#include "base/reply.h"

typedef enum skv_scheme { SKV_LDAP, SKV_LDAPS, SKV_LDAPI } skv_scheme;

#define SKV_URI_MAX 512

/* Without pointers: it is copied by assignment. */
typedef struct skv_uri {
    skv_scheme scheme;
    char text[SKV_URI_MAX]; /* normalised, for messages and statistics: equal for equal servers */
    char host[256];         /* a name or address, without the brackets of IPv6; for ldapi the path of the socket */
    int port;               /* 0 for ldapi */
} skv_uri;

/* A list of servers, in the order of preference. */
#define SKV_URIS_MAX 16
typedef struct skv_uris {
    skv_uri uri[SKV_URIS_MAX];
    int count;
} skv_uris;

/* Parses URIs separated by spaces or commas. Each server is in the list once. Fails with INVALID, "Invalid 'ldap_uri'
 * configuration" and the wrong URI if there is none, one too many, or one that is not ldap://host[:port],
 * ldaps://host[:port] or ldapi://percent-encoded-path, without DN or query. */
skv_status skv_uris_parse(const char *text, size_t len, skv_uris *out, skv_reply *reply);

#endif
