/*
 * simpkv_secret.h - secrets: made at random, and given in the form that a program wants.
 *
 * The rules of simpkv.h hold here as well. Nothing here reads or writes a store. A request is a JSON object. An unknown
 * member of it, and one of a wrong type or value, is SKV_INVALID: the message names the member and what was expected.
 * Results are wiped with the reply. No message contains a secret or a part of one.
 */
#ifndef SIMPKV_SECRET_H
#define SIMPKV_SECRET_H

#include "simpkv.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes a secret. The request has "kind", and the options of that kind:
 *
 *   password      "length" (24), "alphabet" ("alphanumeric"), "at_least" ({"digits":1}); or in their place "words" and
 *                 "separator" ("-"). A request of less entropy than "minimum_bits" (80) is SKV_INVALID.
 *   bytes         "length" (32)
 *   ssh-ed25519   "comment" ("")
 *   ssh-rsa       "comment" (""), "bits" (3072; 2048 to 8192)
 *   ssh-ecdsa     "comment" (""), "curve" ("nistp256", "nistp384", "nistp521")
 *   wireguard
 *   x509          "subject" ({"CN":"www.example.com"}, and "C", "ST", "L", "O", "OU"), "names" (["192.0.2.1"], DNS
 *                 names and IP addresses beside the CN), "days" (365; 3650 for a CA), "key_type" ("ec", P-256; "rsa"
 *                 with "bits" as above), "ca" (false); and for a certificate that a CA signs "issuer"
 *                 ({"certificate":PEM,"private":PEM}; the certificates above the issuer may follow its own)
 *
 * The data are a JSON object with "value", the secret itself, and "parts", an object of what else belongs to it, by
 * name. Bytes that are no text are in base64, and "encoding" says so.
 *
 *   ssh-*         the private key in OpenSSH's format; "public" (a line without its newline), "fingerprint"
 *   wireguard     the private key in base64; "public"
 *   x509          the private key in PEM (PKCS #8); "certificate" and "chain" (PEM: the issuer and those above it, if
 *                 there is one), "fingerprint" (SHA-256), "serial", "not_before", "not_after" (RFC 3339)
 *
 * SKV_OK; SKV_INVALID, also for an issuer that is no CA, is not valid now, has another key, or would expire before the
 * certificate; SKV_UNAVAILABLE (the kernel or libcrypto refuses). Thread-safe.
 */
SKV_API skv_status skv_secret_make(const char *request, size_t request_len, skv_reply *reply);

/*
 * Makes a form of a secret. The request has "format", and for some "cost". With a text "seed", 32 random bytes in hex
 * for instance, which is as secret as the secret itself, the salt is the same for the same seed, format and cost:
 *
 *   plain, base64, hex, mysql_native_password         the same in each call: the number is 0
 *   yescrypt, bcrypt, htpasswd-bcrypt, sha256-crypt, sha512-crypt, scram-sha-256, caching_sha2_password, ssha, apr1
 *                                                     with a random salt: the number is 1
 *
 * yescrypt, bcrypt, htpasswd-bcrypt, sha256-crypt, sha512-crypt and scram-sha-256 have a cost. The largest one takes
 * some seconds.
 *
 * The data are the form. SKV_OK; SKV_INVALID, also for a secret that the format cannot hold, such as one with a NUL;
 * SKV_UNAVAILABLE (the kernel, libcrypt or libcrypto refuses). Thread-safe.
 */
SKV_API skv_status skv_secret_form(const char *secret, size_t secret_len, const char *request, size_t request_len,
                                   skv_reply *reply);

/*
 * Makes the revocation list of a CA. The request has "issuer" as above, "revoked" (an array of {"serial":"4F1A...",
 * "at":"2026-11-29T05:00:00Z" or unix seconds}), "number" (higher than that of the list before), and "days" (30) until
 * programs expect the next list.
 *
 * The data are the list in PEM. Returns as skv_secret_make() does. Thread-safe.
 */
SKV_API skv_status skv_secret_crl(const char *request, size_t request_len, skv_reply *reply);

/*
 * Reads the first certificate of a text in PEM, and checks that the private key, also in PEM and without a passphrase,
 * belongs to it. The data are a JSON object: "serial" (hexadecimal), "subject" (RFC 2253), "fingerprint" (SHA-256),
 * "not_before", "not_after" (RFC 3339), "ca" (a boolean). SKV_OK, SKV_INVALID, SKV_UNAVAILABLE (libcrypto refuses).
 * Thread-safe.
 */
SKV_API skv_status skv_secret_certificate(const char *pem, size_t pem_len, const char *key, size_t key_len,
                                          skv_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
