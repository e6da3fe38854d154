/* secret/extensions.h - the extensions of certificates and revocation lists: RFC 5280, sections 4.2 and 5.2. */
#ifndef SKV_SECRET_EXTENSIONS_H
#define SKV_SECRET_EXTENSIONS_H

#include <openssl/x509v3.h>
#include <stdbool.h>

/* Adds what a certificate is for, whose key it has and which key signs it. `issuer` is the certificate itself if it
 * signs itself. `rsa` says that its key can encrypt. `names` may be empty. Returns false if libcrypto fails. */
bool skv_extend_certificate(X509 *certificate, X509 *issuer, bool ca, bool rsa, GENERAL_NAMES *names);

/* Adds the number, and which key signs the list. */
bool skv_extend_crl(X509_CRL *crl, X509 *issuer, int64_t number);

#endif
