/* secret/kind.h - the functions that make secrets, by kind. */
#ifndef SKV_SECRET_KIND_H
#define SKV_SECRET_KIND_H

#include "base/base64.h"
#include "secret/random.h"
#include "secret/request.h"

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
