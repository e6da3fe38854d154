/* secret/certificate.h - certificates of X.509 as text. */
#ifndef SKV_SECRET_CERTIFICATE_H
#define SKV_SECRET_CERTIFICATE_H

#include "base/reply.h"

#include <jansson.h>
#include <openssl/x509.h>

/* Certificates and revocation lists begin an hour before, so that hosts whose clocks are slow accept them at once. */
#define SKV_BACKDATED_SECONDS 3600

/* Room for a time such as 2026-11-29T05:00:00Z. */
#define SKV_TIME_MAX 32

/* Writes a time of a certificate as RFC 3339 in UTC; "" for one that is malformed. Returns `out`. */
const char *skv_x509_time(const ASN1_TIME *time, char out[SKV_TIME_MAX]);

/* Return a text: PEM, the digits of a number in hexadecimal, and the SHA-256 as `openssl x509 -fingerprint` prints it.
 * Return NULL if memory runs out, or after a failure of libcrypto that is in the reply. */
json_t *skv_x509_pem(X509 *certificate, skv_reply *reply);
json_t *skv_x509_serial(const ASN1_INTEGER *serial, skv_reply *reply);
json_t *skv_x509_fingerprint(const X509 *certificate, skv_reply *reply);

/* Adds the times "not_before" and "not_after". */
void skv_x509_put_validity(const X509 *certificate, json_t **object);

/* Makes a text of what was written to a BIO. Returns NULL as above, or if it is not UTF-8. */
json_t *skv_x509_text(BIO *bio, bool written, skv_reply *reply);

/* Reads the next certificate in PEM. Returns NULL if there is none. */
X509 *skv_x509_next(BIO *pem);

/* Reads a private key in PEM. Returns NULL if there is none, or if it has a passphrase. Release with EVP_PKEY_free().
 */
EVP_PKEY *skv_x509_private(const char *pem, size_t len);

/* Returns the digest that a key signs with: NULL for one that has a digest of its own, such as Ed25519. */
const EVP_MD *skv_x509_digest(const EVP_PKEY *pair);

#endif
