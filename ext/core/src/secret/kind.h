/* secret/kind.h - what the kinds of secrets share, and the functions that make them. */
#ifndef SKV_SECRET_KIND_H
#define SKV_SECRET_KIND_H

#include "secret/request.h"

/* Fills `size` bytes from the kernel. Fails with SKV_UNAVAILABLE. The only source of random bytes that are not made
 * inside libcrypto. random.c. */
skv_status skv_random_bytes(void *bytes, size_t size, skv_reply *reply);

/* Returns a number from 0 to limit - 1, each of them equally likely; limit is 1 at least. random.c. */
uint32_t skv_random_below(uint32_t limit, skv_reply *reply);

/* Appends bytes in base64 (RFC 4648, with padding). encode.c. */
void skv_base64_put(skv_buf *buf, const void *bytes, size_t len);

/* Make a secret: read the options of the request to its end, and set "value" and "parts" (and "encoding") of `made`, an
 * object, which becomes NULL if memory runs out: see json/tree.h. They return the reply's status. */
skv_status skv_make_password(skv_request *request, json_t **made);    /* password.c */
skv_status skv_make_bytes(skv_request *request, json_t **made);       /* password.c */
skv_status skv_make_ssh_ed25519(skv_request *request, json_t **made); /* ssh.c */
skv_status skv_make_ssh_rsa(skv_request *request, json_t **made);     /* ssh.c */
skv_status skv_make_ssh_ecdsa(skv_request *request, json_t **made);   /* ssh.c */
skv_status skv_make_wireguard(skv_request *request, json_t **made);   /* wireguard.c */
skv_status skv_make_x509(skv_request *request, json_t **made);        /* x509.c */

#endif
