/* A call ends, does not abort, and makes no invalid access to memory, whatever a directory server sends. The first byte
 * chooses the call, the layout, and whether the client asks for StartTLS. The rest is the data that the server sends on
 * each connection, before it closes it. The TLS handshake is left out: the data after it follow at once. */
#include "net/connect.h"
#include "net/pool.h"
#include "net/tls.h"
#include "net/tls_context.h"
#include "simpkv.h"
#include "simpkv_changes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CALL_MS 100000   /* longer than a call takes on a busy machine */
#define INPUT_MAX 100000 /* the most that a socket takes at once */

/* Flags beside the call: the hex layout, StartTLS. */
#define HEX 64
#define STARTTLS 128

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const uint8_t *input;
static size_t input_len;

static const skv_identity nobody = {.bind_dn = "", .password_file = "", .cacert = "", .cert = "", .key = ""};
static const skv_identity starter = {
    .bind_dn = "", .password_file = "", .starttls = true, .cacert = "", .cert = "", .key = ""};
static skv_uris uris; /* of a socket file, and of a port */
static bool starts_tls;
static skv_store *stores[2], *store; /* in both layouts; the current one */

/* ---- Replacements for functions of the core (ld --wrap): each call connects to this process, and disconnects ---- */

int __wrap_skv_connect(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply);
skv_conn *__wrap_skv_pool_borrow(skv_pool *pool, const skv_pool_limits *limits, skv_deadline *deadline,
                                 skv_reply *reply);
bool __wrap_skv_tls_configure(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_tls_purpose purpose,
                              skv_reply *reply);
int __wrap_ldap_install_tls(LDAP *ld);
void __wrap_skv_tls_describe(LDAP *ld, skv_tls_facts *facts);
void __wrap_skv_pool_return(skv_pool *pool, skv_conn *conn);
void __wrap_skv_pool_detach(skv_pool *pool, skv_conn *conn);
void __wrap_skv_pool_mark_down(skv_pool *pool, const skv_conn *conn);
void __wrap_skv_pool_mark_timed_out(skv_pool *pool, const skv_conn *conn, int64_t silence_ns);
void __wrap_skv_pool_count(skv_pool *pool, const skv_conn *conn, skv_op op, int64_t nanoseconds);
void __wrap_skv_pool_count_retry(skv_pool *pool, const skv_conn *conn, skv_retry why);

static int server = -1;

int __wrap_skv_connect(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply)
{
    int fds[2];

    (void)uri, (void)deadline, (void)reply;
    if (server >= 0)
        close(server);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0)
        abort();
    server = fds[1];
    if (write(server, input, input_len) != (ssize_t)input_len || shutdown(server, SHUT_WR) != 0)
        abort();
    return fds[0];
}

skv_conn *__wrap_skv_pool_borrow(skv_pool *pool, const skv_pool_limits *limits, skv_deadline *deadline,
                                 skv_reply *reply)
{
    skv_conn_failure failure;

    (void)pool, (void)limits;
    return skv_conn_open(&uris.uri[starts_tls], starts_tls ? &starter : &nobody, deadline, reply, &failure);
}

bool __wrap_skv_tls_configure(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_tls_purpose purpose,
                              skv_reply *reply)
{
    (void)ld, (void)uri, (void)identity, (void)purpose, (void)reply;
    return true;
}

int __wrap_ldap_install_tls(LDAP *ld)
{
    (void)ld;
    return LDAP_SUCCESS;
}

void __wrap_skv_tls_describe(LDAP *ld, skv_tls_facts *facts)
{
    (void)ld, (void)facts;
}

void __wrap_skv_pool_return(skv_pool *pool, skv_conn *conn)
{
    (void)pool;
    if (skv_conn_is_usable(conn))
        skv_conn_close(conn);
    else
        skv_conn_discard(conn, false);
}

void __wrap_skv_pool_detach(skv_pool *pool, skv_conn *conn)
{
    (void)pool, (void)conn;
}

void __wrap_skv_pool_mark_down(skv_pool *pool, const skv_conn *conn)
{
    (void)pool, (void)conn;
}

void __wrap_skv_pool_mark_timed_out(skv_pool *pool, const skv_conn *conn, int64_t silence_ns)
{
    (void)pool, (void)conn, (void)silence_ns;
}

void __wrap_skv_pool_count(skv_pool *pool, const skv_conn *conn, skv_op op, int64_t nanoseconds)
{
    (void)pool, (void)conn, (void)op, (void)nanoseconds;
}

void __wrap_skv_pool_count_retry(skv_pool *pool, const skv_conn *conn, skv_retry why)
{
    (void)pool, (void)conn, (void)why;
}

/* ---- Calls ---- */

#define KEY "globals/f/k", 11
#define FOLDER "globals/f", 9
#define GET_MANY 21
#define PUT_MANY 22
#define ENTRY "cn=x,dc=simp", 12
#define OLD "{\"value\":1}", 11
#define NEW "{\"value\":2}", 11

static void list(skv_list *open, skv_reply *reply)
{
    while (open && skv_list_next(open, CALL_MS, NULL, reply) == SKV_OK)
        ;
    skv_list_close(open);
}

/* Takes what has come, without waiting for the next connection. */
static void follow(skv_reply *reply)
{
    skv_changes *open = skv_changes_open(store, FOLDER, NULL, 0, CALL_MS, NULL, reply);

    while (open && skv_changes_next(open, 0, NULL, reply) == SKV_OK && skv_reply_number(reply) > 0)
        ;
    skv_changes_close(open);
}

/* Three keys in a batch, of which the last two have one folder. */
static void call_on_keys(int which, skv_reply *reply)
{
    static const struct {
        const char *key;
        int condition;
        const char *expect;
    } records[] = {{"globals/k", SKV_PUT_ANY, ""},
                   {"globals/f/k", SKV_PUT_ABSENT, ""},
                   {"globals/f/l", SKV_PUT_EXPECT, "{\"value\":1}"}};
    const char document[] = "{\"value\":2}";
    skv_buf packed;

    skv_buf_init(&packed, 1000);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        uint32_t numbers[] = {(uint32_t)strlen(records[i].key), (uint32_t)strlen(document),
                              (uint32_t)strlen(records[i].expect), (uint32_t)records[i].condition};

        skv_buf_put(&packed, (const char *)numbers, which == GET_MANY ? sizeof *numbers : sizeof numbers);
        skv_buf_put_string(&packed, records[i].key);
        if (which == GET_MANY)
            continue;
        skv_buf_put_string(&packed, document);
        skv_buf_put_string(&packed, records[i].expect);
    }
    if (which == GET_MANY)
        skv_get_many(store, packed.bytes, packed.len, CALL_MS, NULL, reply);
    else
        skv_put_many(store, packed.bytes, packed.len, CALL_MS, NULL, reply);
    skv_buf_free(&packed);
}

static void call_on_entry(int which, skv_reply *reply)
{
    switch (which) {
    case 13:
        skv_entry_list(store, ENTRY, "cn\0member", 10, NULL, 0, CALL_MS, NULL, reply);
        break;
    case 14:
        skv_entry_add(store, ENTRY, "cn\0a", 5, CALL_MS, NULL, reply);
        break;
    case 15:
        skv_entry_modify(store, ENTRY, "add\0cn\0a\0clear\0l\0", 18, "2026Z", 5, CALL_MS, NULL, reply);
        break;
    case 16:
        skv_entry_delete(store, ENTRY, "2026Z", 5, CALL_MS, NULL, reply);
        break;
    case 17:
        skv_entry_password(store, ENTRY, "hush", 4, SKV_PASSWORD_SET, CALL_MS, NULL, reply);
        break;
    default:
        skv_entry_password(store, ENTRY, "hush", 4, SKV_PASSWORD_CHECK, CALL_MS, NULL, reply);
    }
}

static void call(uint8_t which, skv_reply *reply)
{
    int number = (which & ~(HEX | STARTTLS)) % (PUT_MANY + 1);

    store = stores[(which & HEX) != 0];
    starts_tls = (which & STARTTLS) != 0;
    switch (number) {
    case 0:
        skv_get(store, KEY, SKV_GET_ANY, CALL_MS, NULL, reply);
        break;
    case 1:
        skv_exists(store, KEY, CALL_MS, NULL, reply);
        break;
    case 2:
        list(skv_list_open(store, FOLDER, CALL_MS, NULL, reply), reply);
        break;
    case 3:
        skv_put(store, KEY, NEW, SKV_PUT_ANY, NULL, 0, CALL_MS, NULL, reply);
        break;
    case 4:
        skv_put(store, KEY, NEW, SKV_PUT_ABSENT, NULL, 0, CALL_MS, NULL, reply);
        break;
    case 5:
        skv_put(store, KEY, NEW, SKV_PUT_EXPECT, OLD, CALL_MS, NULL, reply);
        break;
    case 6:
        skv_delete(store, KEY, SKV_PUT_ANY, NULL, 0, CALL_MS, NULL, reply);
        break;
    case 7:
        skv_deletetree(store, FOLDER, CALL_MS, NULL, reply);
        break;
    case 8:
        skv_entry_read(store, "", 0, "*\0+", 4, CALL_MS, NULL, reply);
        break;
    case 10:
        skv_delete(store, KEY, SKV_PUT_EXPECT, OLD, CALL_MS, NULL, reply);
        break;
    case 11:
        skv_create_folder(store, FOLDER, CALL_MS, NULL, reply);
        break;
    case 12:
        skv_delete_folder(store, FOLDER, CALL_MS, NULL, reply);
        break;
    case 9:
        list(skv_tree_open(store, "", 0, 0, CALL_MS, NULL, reply), reply);
        break;
    case GET_MANY:
    case PUT_MANY:
        call_on_keys(number, reply);
        break;
    case 20:
        follow(reply);
        break;
    case 19:
        skv_stat(store, KEY, SKV_STAT_COUNT, CALL_MS, NULL, reply);
        break;
    default:
        call_on_entry(number, reply);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
#define OPTIONS(layout)                                                                                                \
    "ldap_uri\0ldapi://%2Fnowhere\0base_dn\0ou=simpkv,o=puppet,dc=simp\0id\0default\0retries\0000\0layout\0" layout
    static const char addresses[] = "ldapi://%2Fnowhere,ldap://127.0.0.1";
    static const char plain[] = OPTIONS("plain"), hex[] = OPTIONS("hex");
    skv_reply *reply = skv_reply_new();

    (void)argc, (void)argv;
    stores[0] = skv_open("ldap", 4, plain, sizeof plain, reply);
    stores[1] = skv_open("ldap", 4, hex, sizeof hex, reply);
    if (!stores[0] || !stores[1] || skv_uris_parse(addresses, strlen(addresses), &uris, reply) != SKV_OK)
        abort();
    skv_reply_free(reply);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    time_t began = time(NULL);
    skv_reply *reply;

    if (size == 0 || size > INPUT_MAX)
        return -1;
    input = data + 1;
    input_len = size - 1;
    reply = skv_reply_new();
    call(data[0], reply);
    /* The call did not end by its timeout. */
    assert(time(NULL) - began < CALL_MS / 1000 / 2);
    skv_reply_free(reply);
    return 0;
}
