/* secret/ssh_text.h - the texts of an SSH key: files of private and public keys, and fingerprints. */
#ifndef SKV_SECRET_SSH_TEXT_H
#define SKV_SECRET_SSH_TEXT_H

#include "secret/pem.h"

/* A key pair in the encoding of RFC 4251, section 5. */
typedef struct skv_ssh_key {
    const char *comment;
    skv_buf public;  /* RFC 4253, section 6.6; RFC 5656, section 3.1; RFC 8709, section 4 */
    skv_buf private; /* as OpenSSH's PROTOCOL.key and ssh-agent have it, without the comment */
} skv_ssh_key;

/* Append a string, and a positive number. */
void skv_ssh_put_string(skv_buf *out, const void *bytes, size_t len);
void skv_ssh_put_number(skv_buf *out, const BIGNUM *number);

/* Make the file of the private key in OpenSSH's format ("openssh-key-v1"), without a passphrase; the line of the public
 * key, without the newline; and the fingerprint as `ssh-keygen -l` prints it. Return NULL if memory runs out, or after
 * a failure that is in the reply. */
json_t *skv_ssh_private_text(const skv_ssh_key *key, skv_reply *reply);
json_t *skv_ssh_public_text(const skv_ssh_key *key);
json_t *skv_ssh_fingerprint(const skv_ssh_key *key, skv_reply *reply);

#endif
