/* net/certificate.h - the validity of a certificate. */
#ifndef SKV_NET_CERTIFICATE_H
#define SKV_NET_CERTIFICATE_H

#include <lber.h>
#include <stdbool.h>
#include <stdint.h>

/* The validity of a certificate, as "YYYYMMDDHHMMSS" in UTC. */
typedef struct skv_validity {
    char from[15], to[15];
} skv_validity;

/* Reads the validity of a certificate in DER. Returns false if it is malformed. */
bool skv_validity_read(const struct berval *certificate, skv_validity *out);

/* Converts one of the two times to seconds since 1970. */
int64_t skv_validity_seconds(const char time[15]);

#endif
