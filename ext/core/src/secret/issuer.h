/* secret/issuer.h - the CA that signs a certificate or a revocation list. */
#ifndef SKV_SECRET_ISSUER_H
#define SKV_SECRET_ISSUER_H

#include "secret/request.h"

#include <openssl/x509.h>

typedef struct skv_issuer {
    X509 *certificate;      /* NULL if the request has no issuer */
    STACK_OF(X509) * above; /* the certificates up to the root, as far as the request has them */
    EVP_PKEY *pair;
} skv_issuer;

/* Reads the option "issuer", an object of "certificate" and "private". Fails with SKV_INVALID unless it is a CA that is
 * valid now and has that key. Release with skv_issuer_free() in any case, which wipes the key. */
skv_status skv_issuer_read(skv_request *request, skv_issuer *issuer);
void skv_issuer_free(skv_issuer *issuer);

/* Checks a certificate that the issuer has signed as other programs will do, that it does not outlive the issuer, and
 * for a CA that it may sign others. Fails with SKV_INVALID. */
skv_status skv_issuer_verify(const skv_issuer *issuer, X509 *certificate, bool ca, skv_reply *reply);

#endif
