#include "secret/form.h"

#include "secret/request.h"
#include "simpkv_secret.h"

#include <stdio.h>
#include <string.h>

/* Costs: what libxcrypt calls the count, and the iterations of SCRAM. The largest ones take some seconds, the default
 * ones a fraction of one. */
typedef struct skv_format {
    const char *name;
    skv_status (*make)(const skv_making *making, skv_reply *reply);
    bool salted;
    bool takes_bytes;                           /* any, and none at all; other formats take a text */
    int64_t cost_min, cost_otherwise, cost_max; /* 0 for a format without cost */
    size_t max;                                 /* bytes of the secret; 0 for no limit */
} skv_format;

/* libxcrypt has room for a text of this size. */
#define CRYPT_MAX 511

static const skv_format formats[] = {
    {"plain", skv_form_plain, .takes_bytes = true},
    {"base64", skv_form_base64, .takes_bytes = true},
    {"hex", skv_form_hex, .takes_bytes = true},
    {"mysql_native_password", skv_form_mysql_native_password, .salted = false},
    {"yescrypt", skv_form_yescrypt, true, false, 1, 5, 9, CRYPT_MAX},
    {"bcrypt", skv_form_bcrypt, true, false, 4, 12, 15, 72},
    {"htpasswd-bcrypt", skv_form_htpasswd_bcrypt, true, false, 4, 10, 15, 72},
    {"sha256-crypt", skv_form_sha256_crypt, true, false, 1000, 100000, 1000000, CRYPT_MAX},
    {"sha512-crypt", skv_form_sha512_crypt, true, false, 1000, 100000, 1000000, CRYPT_MAX},
    {"scram-sha-256", skv_form_scram_sha_256, true, false, 4096, 4096, 1000000, 1024},
    {"caching_sha2_password", skv_form_caching_sha2_password, .salted = true, .max = 256},
    {"ssha", skv_form_ssha, .salted = true},
    {"apr1", skv_form_apr1, .salted = true, .max = 255},
};

#define FORMATS                                                                                                        \
    "'plain', 'base64', 'hex', 'mysql_native_password', 'yescrypt', 'bcrypt', 'htpasswd-bcrypt', 'sha256-crypt', "     \
    "'sha512-crypt', 'scram-sha-256', 'caching_sha2_password', 'ssha' or 'apr1'"

static const skv_format *format_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

/* Refuses a secret of which the program would read only a part: another secret would then have the same form. */
static skv_status check_secret(const skv_format *format, const skv_making *making, skv_reply *reply)
{
    if (format->takes_bytes)
        return SKV_OK;
    if (making->len == 0)
        return skv_fail(reply, SKV_INVALID, "format '%s': the secret is empty", format->name);
    if (memchr(making->secret, '\0', making->len))
        return skv_fail(reply, SKV_INVALID,
                        "format '%s': the secret has a NUL byte, which programs take for its end: expected a text",
                        format->name);
    if (format->max && making->len > format->max)
        return skv_fail(reply, SKV_INVALID, "format '%s': the secret has %zu bytes: expected %zu at most", format->name,
                        making->len, format->max);
    return SKV_OK;
}

/* Makes the form of a copy of the secret that ends in a NUL. */
static skv_status make_form(const skv_format *format, skv_making making, skv_reply *reply)
{
    char *copy;

    if (check_secret(format, &making, reply) != SKV_OK)
        return reply->status;
    copy = skv_copy_string(making.secret, making.len);
    making.secret = copy;
    if (!copy)
        skv_fail_memory(reply);
    else if (format->make(&making, reply) == SKV_OK)
        reply->number = format->salted;
    skv_free(copy);
    return skv_reply_done(reply);
}

static skv_status read_form(skv_request *request, const char *secret, size_t len)
{
    const skv_format *format = format_named(skv_request_text(request, "format", ""));
    skv_making making = {.secret = secret, .len = len};
    char what[64];

    if (!format)
        return skv_request_refuse(request, "format", FORMATS);
    snprintf(what, sizeof what, "format '%s'", format->name);
    request->what = what;
    making.format = format->name;
    making.seed = skv_request_text(request, "seed", NULL);
    if (format->cost_max)
        making.cost = skv_request_integer(request, "cost", format->cost_otherwise, format->cost_min, format->cost_max);
    if (!skv_request_done(request))
        return request->reply->status;
    return make_form(format, making, request->reply);
}

skv_status skv_secret_form(const char *secret, size_t secret_len, const char *json, size_t json_len, skv_reply *reply)
{
    skv_request request;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!secret)
        return skv_fail(reply, SKV_INVALID, "the secret is NULL");
    if (skv_request_open(&request, json, json_len, reply))
        read_form(&request, secret, secret_len);
    skv_request_close(&request);
    return reply->status;
}
