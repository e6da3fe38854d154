#include "secret/kind.h"
#include "simpkv_secret.h"
#include "json/tree.h"

#include <string.h>

typedef struct skv_kind_of_secret {
    const char *name, *what;
    skv_status (*make)(skv_request *request, json_t **made);
} skv_kind_of_secret;

static const skv_kind_of_secret kinds_of_secrets[] = {
    {"password", "kind 'password'", skv_make_password},
    {"bytes", "kind 'bytes'", skv_make_bytes},
    {"ssh-ed25519", "kind 'ssh-ed25519'", skv_make_ssh_ed25519},
    {"ssh-rsa", "kind 'ssh-rsa'", skv_make_ssh_rsa},
    {"ssh-ecdsa", "kind 'ssh-ecdsa'", skv_make_ssh_ecdsa},
    {"wireguard", "kind 'wireguard'", skv_make_wireguard},
    {"x509", "kind 'x509'", skv_make_x509},
};

static const skv_kind_of_secret *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds_of_secrets / sizeof *kinds_of_secrets; i++)
        if (strcmp(kinds_of_secrets[i].name, name) == 0)
            return &kinds_of_secrets[i];
    return NULL;
}

static skv_status make_kind(skv_request *request)
{
    const skv_kind_of_secret *kind = kind_named(skv_request_text(request, "kind", "password"));
    json_t *made;

    if (!kind)
        return skv_request_refuse(request, "kind",
                                  "'password', 'bytes', 'ssh-ed25519', 'ssh-rsa', 'ssh-ecdsa', 'wireguard' or 'x509'");
    if (request->reply->status != SKV_OK)
        return request->reply->status;
    request->what = kind->what;
    made = json_object();
    if (kind->make(request, &made) == SKV_OK)
        return skv_json_reply(made, request->reply);
    json_decref(made);
    return request->reply->status;
}

skv_status skv_secret_make(const char *json, size_t json_len, skv_reply *reply)
{
    skv_request request;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (skv_request_open(&request, json, json_len, reply))
        make_kind(&request);
    skv_request_close(&request);
    return reply->status;
}
