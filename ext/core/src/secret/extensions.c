#include "secret/extensions.h"

/* Adds an extension in the notation of openssl.cnf. */
static bool add_extension(X509V3_CTX *context, X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, nid, value);
    bool added = extension && X509_add_ext(certificate, extension, -1) == 1;

    X509_EXTENSION_free(extension);
    return added;
}

/* The key of the issuer by its identifier, or by name and number if it has none. */
static const char *authority_key(X509 *issuer)
{
    return X509_get_ext_by_NID(issuer, NID_subject_key_identifier, -1) >= 0 ? "keyid:always" : "issuer:always";
}

/* OpenSSL 1.1.1 accepts a certificate as its own issuer only without keyUsage or with keyCertSign, which RFC 5280
 * forbids to those that are no CA. */
static const char *key_usage(bool own_issuer, bool ca, bool rsa)
{
    if (ca)
        return "critical,keyCertSign,cRLSign";
    if (own_issuer)
        return NULL;
    return rsa ? "critical,digitalSignature,keyEncipherment" : "critical,digitalSignature";
}

bool skv_extend_certificate(X509 *certificate, X509 *issuer, bool ca, bool rsa, GENERAL_NAMES *names)
{
    const char *usage = key_usage(issuer == certificate, ca, rsa);
    X509V3_CTX context;

    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    return add_extension(&context, certificate, NID_basic_constraints, ca ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
           (!usage || add_extension(&context, certificate, NID_key_usage, usage)) &&
           (ca || add_extension(&context, certificate, NID_ext_key_usage, "serverAuth,clientAuth")) &&
           (!sk_GENERAL_NAME_num(names) || X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) == 1) &&
           add_extension(&context, certificate, NID_subject_key_identifier, "hash") &&
           add_extension(&context, certificate, NID_authority_key_identifier, authority_key(issuer));
}

bool skv_extend_crl(X509_CRL *crl, X509 *issuer, int64_t number)
{
    ASN1_INTEGER *integer = ASN1_INTEGER_new();
    X509_EXTENSION *key;
    X509V3_CTX context;
    bool added;

    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, NULL, NULL, crl, 0);
    key = X509V3_EXT_conf_nid(NULL, &context, NID_authority_key_identifier, authority_key(issuer));
    added = key && X509_CRL_add_ext(crl, key, -1) == 1 && integer && ASN1_INTEGER_set_int64(integer, number) == 1 &&
            X509_CRL_add1_ext_i2d(crl, NID_crl_number, integer, 0, 0) == 1;
    X509_EXTENSION_free(key);
    ASN1_INTEGER_free(integer);
    return added;
}
