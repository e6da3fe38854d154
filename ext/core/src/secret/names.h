/* secret/names.h - the names of a certificate. */
#ifndef SKV_SECRET_NAMES_H
#define SKV_SECRET_NAMES_H

#include "secret/request.h"

#include <openssl/x509v3.h>

/* Reads the option "subject", an object: CN, and others that are not required. The caller releases the name with
 * X509_NAME_free(). Returns NULL after a failure: SKV_INVALID, SKV_UNAVAILABLE. */
X509_NAME *skv_names_subject(skv_request *request);

/* Reads the option "names", an array of DNS names and IP addresses. The caller releases them with GENERAL_NAMES_free().
 * Returns NULL after a failure, as above. */
GENERAL_NAMES *skv_names_alternative(skv_request *request);

/* Adds the CN of the subject to the names if it is a DNS name or an IP address, and not among them: programs do not
 * read it in the subject. */
void skv_names_add_common(GENERAL_NAMES *names, X509_NAME *subject, skv_reply *reply);

#endif
