/* net/uri.h - where a directory server listens. */
#ifndef SKV_NET_URI_H
#define SKV_NET_URI_H

#include "base/reply.h"

typedef enum skv_scheme { SKV_LDAP, SKV_LDAPS, SKV_LDAPI } skv_scheme;

#define SKV_URI_MAX 512

/* No pointers: a uri is copied by assignment. */
typedef struct skv_uri {
    skv_scheme scheme;
    char text[SKV_URI_MAX]; /* normalised: what messages and statistics show, and what equal servers have in common */
    char host[256];         /* a name or address, without the brackets of IPv6; for ldapi the path of the socket */
    int port;               /* 0 for ldapi */
} skv_uri;

/* A list of servers, in the order in which they are to be tried. */
#define SKV_URIS_MAX 16
typedef struct skv_uris {
    skv_uri uri[SKV_URIS_MAX];
    int count;
} skv_uris;

/* Reads URIs separated by spaces or commas. INVALID, with "Invalid 'ldap_uri' configuration" and the one that is wrong,
 * when there is none, one too many, or one that is not ldap://host[:port], ldaps://host[:port] or
 * ldapi://percent-encoded-path, without DN or query. */
skv_status skv_uris_parse(const char *text, size_t len, skv_uris *out, skv_reply *reply);

#endif
