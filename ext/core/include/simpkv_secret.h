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
 *   ssh-rsa       "comment", "bits" (3072)
 *   ssh-ecdsa     "comment", "curve" ("nistp256")
 *   wireguard
 *   x509          "subject" ({"CN":"www.example.com"}), "names" (subject alternative names: "www.example.com",
 *                 "192.0.2.1"), "days" (365), "key_type" ("ec"; "rsa" with "bits"), "ca" (false); and for a certificate
 *                 that a CA signs "issuer" ({"certificate":PEM,"private":PEM})
 *
 * The data are a JSON object with "value", the secret itself, and "parts", an object of what else belongs to it, by
 * name: "public", "fingerprint", "certificate". Bytes that are no text are in base64, and "encoding" says so.
 * SKV_OK, SKV_UNAVAILABLE (the kernel or libcrypto refuses). Thread-safe.
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

#ifdef __cplusplus
}
#endif

#endif
