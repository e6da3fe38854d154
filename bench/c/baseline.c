/*
 * baseline.c - the baseline of each operation: a bare loop over libldap. Each thread has a connection of its own, with
 * up to BENCH_WINDOW operations in flight.
 */
#include "contest.h"

#include <ldap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DN_MAX 1024

typedef struct client {
    LDAP *ldap;
    const char *folder; /* the DN of the folder of all keys */
    const char *name;   /* of this contestant, in the keys that it writes */
    char *documents[2];
    size_t sizes[2];
    long keys, window, page;
    bool reads;  /* a write reads the entry first */
    char *value; /* the last one read */
    size_t size, room;
    int found;
    long count; /* of keys in a list */
    size_t bytes;
} client;

/* Sends the request of an operation, and returns its message id. */
typedef int (*request)(client *c, long number);

static void check(const char *what, int error)
{
    if (error != LDAP_SUCCESS)
        contest_fail(what, ldap_err2string(error));
}

/* ---- The connection ---- */

static void use_tls(LDAP *ldap, const char *authority)
{
    int demand = LDAP_OPT_X_TLS_DEMAND, as_client = 0;

    check("CACERTFILE", ldap_set_option(ldap, LDAP_OPT_X_TLS_CACERTFILE, authority));
    check("REQUIRE_CERT", ldap_set_option(ldap, LDAP_OPT_X_TLS_REQUIRE_CERT, &demand));
    check("NEWCTX", ldap_set_option(ldap, LDAP_OPT_X_TLS_NEWCTX, &as_client));
}

static LDAP *connect_and_bind(void)
{
    const char *authority = getenv("BENCH_CACERT");
    int version = LDAP_VERSION3;
    size_t len;
    char *password = contest_file("BENCH_PASSWORD_FILE", &len);
    struct berval credentials = {len, password};
    LDAP *ldap;

    check("ldap_initialize", ldap_initialize(&ldap, contest_setting("BENCH_URI")));
    check("PROTOCOL_VERSION", ldap_set_option(ldap, LDAP_OPT_PROTOCOL_VERSION, &version));
    if (authority)
        use_tls(ldap, authority);
    check("bind",
          ldap_sasl_bind_s(ldap, contest_setting("BENCH_BIND_DN"), LDAP_SASL_SIMPLE, &credentials, NULL, NULL, NULL));
    free(password);
    return ldap;
}

static void *open_client(void)
{
    client *c = calloc(1, sizeof *c);

    if (!c)
        contest_fail("calloc", "no memory");
    c->ldap = connect_and_bind();
    c->folder = contest_setting("BENCH_FOLDER_DN");
    c->name = contest_setting("BENCH_NAME");
    c->documents[0] = contest_file("BENCH_DOCUMENT", &c->sizes[0]);
    c->documents[1] = contest_file("BENCH_OTHER_DOCUMENT", &c->sizes[1]);
    c->keys = contest_number("BENCH_KEYS", 1);
    c->window = contest_number("BENCH_WINDOW", 1);
    c->page = contest_number("BENCH_PAGE", 500);
    c->reads = contest_number("BENCH_READ", 0) != 0;
    return c;
}

/* ---- Requests ---- */

static int search(client *c, const char *dn, const char *attribute)
{
    char *attributes[] = {(char *)attribute, NULL};
    int id;

    check("search",
          ldap_search_ext(c->ldap, dn, LDAP_SCOPE_BASE, NULL, attributes, 0, NULL, NULL, NULL, LDAP_NO_LIMIT, &id));
    return id;
}

static void key_dn(char *dn, const client *c, const char *name, long number)
{
    snprintf(dn, DN_MAX, "simpkvKey=%s%ld,%s", name, number, c->folder);
}

static int send_get(client *c, long number)
{
    char dn[DN_MAX];

    key_dn(dn, c, "k", number % c->keys);
    return search(c, dn, "simpkvJsonValue");
}

/* Reads the entry that send_modify() changes. */
static int send_read_own(client *c, long number)
{
    char dn[DN_MAX];

    (void)number;
    snprintf(dn, sizeof dn, "simpkvKey=%s,%s", c->name, c->folder);
    return search(c, dn, "simpkvJsonValue");
}

/* Reads the entry that send_add() makes. */
static int send_read_new(client *c, long number)
{
    char dn[DN_MAX];

    key_dn(dn, c, c->name, number);
    return search(c, dn, "simpkvJsonValue");
}

static int send_exists(client *c, long number)
{
    char dn[DN_MAX];

    key_dn(dn, c, "k", number % c->keys);
    return search(c, dn, LDAP_NO_ATTRS);
}

static int send_modify(client *c, long number)
{
    struct berval value = {c->sizes[number % 2], c->documents[number % 2]}, *values[] = {&value, NULL};
    LDAPMod change = {LDAP_MOD_REPLACE | LDAP_MOD_BVALUES, "simpkvJsonValue", {.modv_bvals = values}};
    LDAPMod *changes[] = {&change, NULL};
    char dn[DN_MAX];
    int id;

    snprintf(dn, sizeof dn, "simpkvKey=%s,%s", c->name, c->folder);
    check("modify", ldap_modify_ext(c->ldap, dn, changes, NULL, NULL, &id));
    return id;
}

static int send_add(client *c, long number)
{
    char *classes[] = {"simpkvEntry", NULL}, name[64], *names[] = {name, NULL}, dn[DN_MAX];
    struct berval value = {c->sizes[0], c->documents[0]}, *values[] = {&value, NULL};
    LDAPMod class = {LDAP_MOD_ADD, "objectClass", {.modv_strvals = classes}};
    LDAPMod key = {LDAP_MOD_ADD, "simpkvKey", {.modv_strvals = names}};
    LDAPMod document = {LDAP_MOD_ADD | LDAP_MOD_BVALUES, "simpkvJsonValue", {.modv_bvals = values}};
    LDAPMod *attributes[] = {&class, &key, &document, NULL};
    int id;

    snprintf(name, sizeof name, "%s%ld", c->name, number);
    key_dn(dn, c, c->name, number);
    check("add", ldap_add_ext(c->ldap, dn, attributes, NULL, NULL, &id));
    return id;
}

static int send_delete(client *c, long number)
{
    char dn[DN_MAX];
    int id;

    key_dn(dn, c, c->name, number);
    check("delete", ldap_delete_ext(c->ldap, dn, NULL, NULL, &id));
    return id;
}

/* ---- Responses ---- */

static void keep(client *c, const struct berval *value)
{
    if (c->room <= value->bv_len) {
        c->room = value->bv_len + 1;
        c->value = realloc(c->value, c->room);
        if (!c->value)
            contest_fail("realloc", "no memory");
    }
    memcpy(c->value, value->bv_val, value->bv_len + 1);
    c->size = value->bv_len;
}

static void take_entry(client *c, LDAPMessage *entry)
{
    struct berval **values = ldap_get_values_len(c->ldap, entry, "simpkvJsonValue");

    if (values)
        keep(c, values[0]);
    ldap_value_free_len(values);
}

static LDAPMessage *wait_for_response(client *c)
{
    LDAPMessage *message = NULL;

    if (ldap_result(c->ldap, LDAP_RES_ANY, LDAP_MSG_ALL, NULL, &message) < 0)
        contest_fail("ldap_result", "failed");
    return message;
}

/* Receives the response to a request, and returns its result code. */
static int receive(client *c)
{
    LDAPMessage *message = wait_for_response(c), *entry;
    int code;

    entry = ldap_first_entry(c->ldap, message);
    c->found = entry != NULL;
    if (entry)
        take_entry(c, entry);
    check("ldap_parse_result", ldap_parse_result(c->ldap, message, &code, NULL, NULL, NULL, NULL, 0));
    ldap_msgfree(message);
    return code;
}

static void each(client *c, request send, long first, long count)
{
    long sent = 0;

    for (long received = 0; received < count; received++) {
        for (; sent < count && sent - received < c->window; sent++)
            send(c, first + sent);
        check("response", receive(c));
    }
}

/* Reads, if it is to, before each write. */
static void write_each(client *c, request read, request write, long first, long count)
{
    for (long i = first; i < first + count; i++) {
        if (c->reads) {
            read(c, i);
            receive(c);
        }
        write(c, i);
        check("response", receive(c));
    }
}

/* ---- Cases ---- */

static void get(void *own, long first, long count)
{
    each(own, send_get, first, count);
}

static void exists(void *own, long first, long count)
{
    each(own, send_exists, first, count);
}

static void modify(void *own, long first, long count)
{
    write_each(own, send_read_own, send_modify, first, count);
}

static void add(void *own, long first, long count)
{
    each(own, send_add, first, count);
}

static void read_and_add(void *own, long first, long count)
{
    write_each(own, send_read_new, send_add, first, count);
}

static void delete (void *own, long first, long count)
{
    each(own, send_delete, first, count);
}

static int send_page(client *c, struct berval *cookie)
{
    char *attributes[] = {"simpkvJsonValue", NULL};
    LDAPControl *controls[] = {NULL, NULL};
    int id;

    check("paging", ldap_create_page_control(c->ldap, (ber_int_t)c->page, cookie, 1, &controls[0]));
    check("search", ldap_search_ext(c->ldap, c->folder, LDAP_SCOPE_ONELEVEL, NULL, attributes, 0, controls, NULL, NULL,
                                    LDAP_NO_LIMIT, &id));
    ldap_control_free(controls[0]);
    return id;
}

/* Counts an entry of a list, and reads its name and value. */
static void count_entry(client *c, LDAPMessage *entry)
{
    char *dn = ldap_get_dn(c->ldap, entry);

    take_entry(c, entry);
    c->count++;
    c->bytes += c->size;
    ldap_memfree(dn);
}

static struct berval next_cookie(client *c, LDAPMessage *message)
{
    LDAPControl **controls = NULL, *paging;
    struct berval cookie = {0};
    ber_int_t estimate;
    int code;

    check("ldap_parse_result", ldap_parse_result(c->ldap, message, &code, NULL, NULL, NULL, &controls, 0));
    check("response", code);
    paging = ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, NULL);
    check("paging", ldap_parse_pageresponse_control(c->ldap, paging, &estimate, &cookie));
    ldap_controls_free(controls);
    return cookie;
}

/* Reads a page entry by entry, and returns the cookie of the next one. */
static struct berval list_page(client *c, struct berval *cookie)
{
    int id = send_page(c, cookie), type = LDAP_RES_SEARCH_ENTRY;
    struct berval next = {0};

    while (type == LDAP_RES_SEARCH_ENTRY) {
        LDAPMessage *message = NULL;

        type = ldap_result(c->ldap, id, LDAP_MSG_ONE, NULL, &message);
        if (type == LDAP_RES_SEARCH_ENTRY)
            count_entry(c, message);
        else if (type == LDAP_RES_SEARCH_RESULT)
            next = next_cookie(c, message);
        else
            contest_fail("ldap_result", "failed");
        ldap_msgfree(message);
    }
    return next;
}

static void list(void *own, long first, long count)
{
    client *c = own;

    for (long i = first; i < first + count; i++) {
        struct berval cookie = {0};

        c->count = 0;
        c->bytes = 0;
        do {
            struct berval next = list_page(c, &cookie);

            ldap_memfree(cookie.bv_val);
            cookie = next;
        } while (cookie.bv_len > 0);
        ldap_memfree(cookie.bv_val);
    }
}

static void print_value(void *own, long first)
{
    const client *c = own;

    (void)first;
    printf("%s\n", c->value);
}

static void print_found(void *own, long first)
{
    const client *c = own;

    (void)first;
    puts(c->found ? "true" : "false");
}

static void print_stored(client *c, const char *dn)
{
    search(c, dn, "simpkvJsonValue");
    check("response", receive(c));
    print_value(c, 0);
}

static void print_changed(void *own, long first)
{
    client *c = own;
    char dn[DN_MAX];

    (void)first;
    snprintf(dn, sizeof dn, "simpkvKey=%s,%s", c->name, c->folder);
    print_stored(c, dn);
}

static void print_added(void *own, long first)
{
    client *c = own;
    char dn[DN_MAX];

    key_dn(dn, c, c->name, first);
    print_stored(c, dn);
}

static void print_deleted(void *own, long first)
{
    client *c = own;
    char dn[DN_MAX];

    key_dn(dn, c, c->name, first);
    search(c, dn, LDAP_NO_ATTRS);
    puts(receive(c) == LDAP_NO_SUCH_OBJECT ? "missing" : "exists");
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
        {"put_unchanged", NULL, get, NULL, print_value}, /* a put reads the document first */
        {"put_changed", NULL, modify, NULL, print_changed},
        {"put_new", NULL, read_and_add, delete, print_added},
        {"delete", add, delete, NULL, print_deleted},
        {"list", NULL, list, NULL, print_list},
        {"fill", NULL, add, NULL, print_added},
        {0},
    };

    return contest_run(argc, argv, cases, open_client);
}
