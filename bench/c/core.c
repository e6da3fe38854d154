/* core.c - the core through simpkv.h, as a binding calls it. Its threads share one store. */
#include "contest.h"

#include <simpkv.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 30000
#define KEY_ROOM 256

typedef struct client {
    skv_store *store;
    skv_reply *reply;
    skv_cancel *cancel;
    const char *folder, *name;
    char *documents[2];
    size_t sizes[2];
    long keys;
    long count; /* of keys in a list */
    size_t bytes;
} client;

static void check(const client *c, const char *what, int status)
{
    if (status != SKV_OK)
        contest_fail(what, skv_reply_message(c->reply));
}

/* ---- The store ---- */

/* Appends a name and a value, each with its NUL. */
static size_t add_option(char *options, size_t len, const char *name, const char *value)
{
    memcpy(options + len, name, strlen(name) + 1);
    len += strlen(name) + 1;
    memcpy(options + len, value, strlen(value) + 1);
    return len + strlen(value) + 1;
}

static skv_store *open_store(skv_reply *reply)
{
    static const char *const settings[][2] = {{"ldap_uri", "BENCH_URI"},
                                              {"admin_dn", "BENCH_BIND_DN"},
                                              {"base_dn", "BENCH_BASE_DN"},
                                              {"id", "BENCH_ID"},
                                              {"admin_pw_file", "BENCH_PASSWORD_FILE"},
                                              {"tls_cacert", "BENCH_CACERT"}};
    char options[4096];
    size_t len = 0;
    skv_store *store;

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (getenv(settings[i][1]))
            len = add_option(options, len, settings[i][0], contest_setting(settings[i][1]));
    }
    store = skv_open("ldap", strlen("ldap"), options, len, reply);
    if (!store)
        contest_fail("skv_open", skv_reply_message(reply));
    return store;
}

static void *open_client(void)
{
    static skv_store *shared;
    client *c = calloc(1, sizeof *c);

    if (!c)
        contest_fail("calloc", "no memory");
    c->reply = skv_reply_new();
    c->cancel = skv_cancel_new();
    shared = shared ? shared : open_store(c->reply);
    c->store = shared;
    c->folder = contest_setting("BENCH_FOLDER");
    c->name = contest_setting("BENCH_NAME");
    c->documents[0] = contest_file("BENCH_DOCUMENT", &c->sizes[0]);
    c->documents[1] = contest_file("BENCH_OTHER_DOCUMENT", &c->sizes[1]);
    c->keys = contest_number("BENCH_KEYS", 1);
    return c;
}

/* ---- Operations ---- */

static size_t key_of(char *key, const client *c, const char *name, long number)
{
    return (size_t)snprintf(key, KEY_ROOM, "%s/%s%ld", c->folder, name, number);
}

static void get_key(client *c, const char *key, size_t len)
{
    skv_cancel_reset(c->cancel);
    check(c, "get", skv_get(c->store, key, len, SKV_GET_ANY, TIMEOUT_MS, c->cancel, c->reply));
}

static void put_key(client *c, const char *key, size_t len, long which)
{
    skv_cancel_reset(c->cancel);
    check(c, "put",
          skv_put(c->store, key, len, c->documents[which], c->sizes[which], SKV_PUT_ANY, NULL, 0, TIMEOUT_MS, c->cancel,
                  c->reply));
}

static void get(void *own, long first, long count)
{
    client *c = own;
    char key[KEY_ROOM];

    for (long i = first; i < first + count; i++)
        get_key(c, key, key_of(key, c, "k", i % c->keys));
}

static void exists(void *own, long first, long count)
{
    client *c = own;
    char key[KEY_ROOM];

    for (long i = first; i < first + count; i++) {
        size_t len = key_of(key, c, "k", i % c->keys);

        skv_cancel_reset(c->cancel);
        check(c, "exists", skv_exists(c->store, key, len, TIMEOUT_MS, c->cancel, c->reply));
    }
}

static void put_unchanged(void *own, long first, long count)
{
    client *c = own;
    char key[KEY_ROOM];

    for (long i = first; i < first + count; i++)
        put_key(c, key, key_of(key, c, "k", i % c->keys), 0);
}

static void put_changed(void *own, long first, long count)
{
    client *c = own;
    char key[KEY_ROOM];
    size_t len = (size_t)snprintf(key, sizeof key, "%s/%s", c->folder, c->name);

    for (long i = first; i < first + count; i++)
        put_key(c, key, len, i % 2);
}

static void put_new(void *own, long first, long count)
{
    client *c = own;
    char key[KEY_ROOM];

    for (long i = first; i < first + count; i++)
        put_key(c, key, key_of(key, c, c->name, i), 0);
}

static void delete (void *own, long first, long count)
{
    client *c = own;
    char key[KEY_ROOM];

    for (long i = first; i < first + count; i++) {
        size_t len = key_of(key, c, c->name, i);

        skv_cancel_reset(c->cancel);
        check(c, "delete", skv_delete(c->store, key, len, SKV_PUT_ANY, NULL, 0, TIMEOUT_MS, c->cancel, c->reply));
    }
}

/* Counts the records of a page. */
static void count_page(client *c)
{
    const char *at = skv_reply_data(c->reply), *end = at + skv_reply_size(c->reply);
    uint32_t name_len, body_len;

    for (; at < end; at += 1 + sizeof name_len + sizeof body_len + name_len + body_len) {
        memcpy(&name_len, at + 1, sizeof name_len);
        memcpy(&body_len, at + 1 + sizeof name_len, sizeof body_len);
        c->count++;
        c->bytes += body_len;
    }
}

static void list(void *own, long first, long count)
{
    client *c = own;

    for (long i = first; i < first + count; i++) {
        skv_list *open;
        int status;

        skv_cancel_reset(c->cancel);
        open = skv_list_open(c->store, c->folder, strlen(c->folder), TIMEOUT_MS, c->cancel, c->reply);
        c->count = 0;
        c->bytes = 0;
        check(c, "list", skv_reply_status(c->reply));
        while ((status = skv_list_next(open, TIMEOUT_MS, c->cancel, c->reply)) == SKV_OK)
            count_page(c);
        check(c, "list", status == SKV_END ? SKV_OK : status);
        skv_list_close(open);
    }
}

/* ---- Results ---- */

static void print_value(void *own, long first)
{
    const client *c = own;

    (void)first;
    printf("%s\n", skv_reply_data(c->reply));
}

static void print_kept(void *own, long first)
{
    get(own, first, 1);
    print_value(own, first);
}

static void print_found(void *own, long first)
{
    const client *c = own;

    (void)first;
    puts(skv_reply_number(c->reply) == SKV_KIND_KEY ? "true" : "false");
}

static void print_changed(void *own, long first)
{
    client *c = own;
    char key[KEY_ROOM];

    (void)first;
    get_key(c, key, (size_t)snprintf(key, sizeof key, "%s/%s", c->folder, c->name));
    print_value(c, 0);
}

static void print_added(void *own, long first)
{
    client *c = own;
    char key[KEY_ROOM];

    get_key(c, key, key_of(key, c, c->name, first));
    print_value(c, 0);
}

static void print_deleted(void *own, long first)
{
    client *c = own;
    char key[KEY_ROOM];
    size_t len = key_of(key, c, c->name, first);

    check(c, "exists", skv_exists(c->store, key, len, TIMEOUT_MS, c->cancel, c->reply));
    puts(skv_reply_number(c->reply) == SKV_KIND_NONE ? "missing" : "exists");
}

static void print_list(void *own, long first)
{
    const client *c = own;

    (void)first;
    printf("%ld keys, %zu bytes\n", c->count, c->bytes);
}

int main(int argc, char **argv)
{
    static const contest_case cases[] = {
        {"get", NULL, get, NULL, print_value},
        {"exists", NULL, exists, NULL, print_found},
        {"put_unchanged", NULL, put_unchanged, NULL, print_kept},
        {"put_changed", NULL, put_changed, NULL, print_changed},
        {"put_new", NULL, put_new, delete, print_added},
        {"delete", put_new, delete, NULL, print_deleted},
        {"list", NULL, list, NULL, print_list},
        {0},
    };

    return contest_run(argc, argv, cases, open_client);
}
