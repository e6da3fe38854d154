/* The forms of crypt(3), by libxcrypt. Its functions for threads write into memory of the caller, who wipes it. */
#include "secret/form.h"
#include "secret/salt.h"

#include <crypt.h>
#include <errno.h>
#include <string.h>

#define SALT_SIZE 16 /* bytes; yescrypt and bcrypt take all of them */

static skv_status fail_crypt(const skv_making *making, skv_reply *reply)
{
    if (errno == ENOMEM)
        return skv_fail_memory(reply);
    return skv_fail(reply, SKV_UNAVAILABLE, "the libcrypt of this system does not make the format '%s': %m",
                    making->format);
}

static skv_status put_crypt(const skv_making *making, const char *prefix, skv_reply *reply)
{
    struct crypt_data *data = skv_alloc_zeroed(1, sizeof *data);
    char salt[SALT_SIZE], setting[CRYPT_GENSALT_OUTPUT_SIZE];
    const char *text;

    if (!data)
        return skv_fail_memory(reply);
    if (skv_salt_bytes(making, salt, sizeof salt, reply) == SKV_OK) {
        text = crypt_gensalt_rn(prefix, (unsigned long)making->cost, salt, sizeof salt, setting, sizeof setting);
        if (text)
            text = crypt_rn(making->secret, setting, data, sizeof *data);
        if (text)
            skv_buf_put_string(&reply->data, text);
        else
            fail_crypt(making, reply);
    }
    skv_free(data);
    return reply->status;
}

skv_status skv_form_yescrypt(const skv_making *making, skv_reply *reply)
{
    return put_crypt(making, "$y$", reply);
}

skv_status skv_form_bcrypt(const skv_making *making, skv_reply *reply)
{
    return put_crypt(making, "$2b$", reply);
}

/* Apache knows the name of PHP for the same algorithm. */
skv_status skv_form_htpasswd_bcrypt(const skv_making *making, skv_reply *reply)
{
    return put_crypt(making, "$2y$", reply);
}

skv_status skv_form_sha256_crypt(const skv_making *making, skv_reply *reply)
{
    return put_crypt(making, "$5$", reply);
}

skv_status skv_form_sha512_crypt(const skv_making *making, skv_reply *reply)
{
    return put_crypt(making, "$6$", reply);
}
