/* secret/form.h - the forms of secrets, in families of one file each. */
#ifndef SKV_SECRET_FORM_H
#define SKV_SECRET_FORM_H

#include "base/reply.h"

/* What a form is made of. */
typedef struct skv_making {
    const char *format; /* for messages, and for families that make several */
    const char *secret; /* ends in a NUL, which `len` does not count; has none within unless the format takes bytes */
    size_t len;
    int64_t cost;
    const char *seed; /* of the salt; NULL for a random one */
} skv_making;

/* Append the form to the reply's data, and return the reply's status. */
skv_status skv_form_plain(const skv_making *making, skv_reply *reply);                 /* form_bytes.c */
skv_status skv_form_base64(const skv_making *making, skv_reply *reply);                /* form_bytes.c */
skv_status skv_form_hex(const skv_making *making, skv_reply *reply);                   /* form_bytes.c */
skv_status skv_form_mysql_native_password(const skv_making *making, skv_reply *reply); /* form_sha1.c */
skv_status skv_form_ssha(const skv_making *making, skv_reply *reply);                  /* form_sha1.c */
skv_status skv_form_scram_sha_256(const skv_making *making, skv_reply *reply);         /* form_scram.c */
skv_status skv_form_yescrypt(const skv_making *making, skv_reply *reply);              /* form_crypt.c */
skv_status skv_form_bcrypt(const skv_making *making, skv_reply *reply);                /* form_crypt.c */
skv_status skv_form_htpasswd_bcrypt(const skv_making *making, skv_reply *reply);       /* form_crypt.c */
skv_status skv_form_sha256_crypt(const skv_making *making, skv_reply *reply);          /* form_crypt.c */
skv_status skv_form_sha512_crypt(const skv_making *making, skv_reply *reply);          /* form_crypt.c */
skv_status skv_form_caching_sha2_password(const skv_making *making, skv_reply *reply); /* form_rounds.c */
skv_status skv_form_apr1(const skv_making *making, skv_reply *reply);                  /* form_rounds.c */

#define SKV_SCRAM_SALT 16 /* bytes, as PostgreSQL makes them */

/* Three of them with a given salt: a text, and for SCRAM bytes. form_rounds.c and form_scram.c. */
skv_status skv_apr1_of(const skv_making *making, const char *salt, skv_reply *reply);
skv_status skv_caching_sha2_of(const skv_making *making, const char *salt, skv_reply *reply);
skv_status skv_scram_of(const skv_making *making, const unsigned char *salt, skv_reply *reply);

#endif
