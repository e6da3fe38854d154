/* net/certificate.h - the one thing that we read in a certificate ourselves. */
#ifndef SKV_NET_CERTIFICATE_H
#define SKV_NET_CERTIFICATE_H

#include <lber.h>
#include <stdbool.h>
#include <stdint.h>

/* Reads the validity of a certificate in DER, as "YYYYMMDDHHMMSS" in UTC. False if it is none. */
typedef struct skv_validity {
    char from[15], to[15];
} skv_validity;

bool skv_validity_read(const struct berval *certificate, skv_validity *out);

/* One of these two times in seconds since 1970. */
int64_t skv_validity_seconds(const char time[15]);

#endif
