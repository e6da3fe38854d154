/*
 * instructions.c - paths through the core without I/O, whose instructions valgrind counts. The counts do not depend on
 * the load of the machine.
 *
 *   instructions CASE TIMES     without a case, prints the names of all cases
 */
#include <json/reader.h>
#include <name/dn.h>
#include <simpkv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE "ou=simpkv,o=puppet,dc=simp"
#define FOLDER "environments/production/app1"
#define SMALL "{\"value\":{\"password\":\"Xu8#kq!0\"},\"metadata\":{\"owner\":\"ops\"}}"
#define SPACED "{ \"value\": {\"password\": \"Xu8#kq!0\"}, \"metadata\": {\"owner\": \"ops\"} }"
#define HOST "{\"name\":\"node1.example.com\",\"address\":\"10.0.0.1\",\"weight\":17,\"ratio\":9.898}"
#define LARGE                                                                                                          \
    "{\"value\":[" HOST "," HOST "," HOST "," HOST "," HOST "," HOST "," HOST "," HOST "," HOST "," HOST "," HOST      \
    "],\"metadata\":{}}"
#define INSTANCE_DN "ou=default,ou=instances," BASE

static skv_reply *reply;

static void must(int status)
{
    if (status != SKV_OK) {
        fprintf(stderr, "instructions: %s\n", skv_reply_message(reply));
        exit(1);
    }
}

static void read_document(const char *document)
{
    skv_json_reader reader;
    skv_json_token token = SKV_JSON_NULL;

    skv_json_read_init(&reader, document, strlen(document));
    while (token != SKV_JSON_END && token != SKV_JSON_REFUSED)
        token = skv_json_read(&reader);
    must(token == SKV_JSON_END ? SKV_OK : SKV_MALFORMED);
}

static void read_small(void)
{
    read_document(SMALL);
}

static void read_large(void)
{
    read_document(LARGE);
}

static void same_bytes(void)
{
    must(skv_document_same(SMALL, strlen(SMALL), SMALL, strlen(SMALL), reply));
}

static void same_meaning(void)
{
    must(skv_document_same(SMALL, strlen(SMALL), SPACED, strlen(SPACED), reply));
}

static void key_check(void)
{
    must(skv_key_check("app1/db/password", 16, 0, reply));
}

static void key_join(void)
{
    must(skv_key_join("environments/production", 23, "app1/db/password", 16, reply));
}

static void dn_from_path(int layout)
{
    must(skv_dn_from_path(layout, SKV_KIND_KEY, BASE, strlen(BASE), "default", 7, FOLDER "/password",
                          strlen(FOLDER "/password"), reply));
}

static void dn_plain(void)
{
    dn_from_path(SKV_LAYOUT_PLAIN);
}

static void dn_hex(void)
{
    dn_from_path(SKV_LAYOUT_HEX);
}

/* Makes a DN as an open store does. */
static void dn_below(void)
{
    must(skv_dn_below(SKV_LAYOUT_PLAIN, SKV_KIND_KEY, INSTANCE_DN, strlen(INSTANCE_DN), FOLDER "/password",
                      strlen(FOLDER "/password"), reply));
}

static void format_double(void)
{
    char text[SKV_DOUBLE_MAX];

    must(skv_format_double(9.898, text) == 5 ? SKV_OK : SKV_INVALID);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"read a small document", read_small},
    {"read a document of 1 KB", read_large},
    {"compare documents, equal to the byte", same_bytes},
    {"compare documents, spaced differently", same_meaning},
    {"format a double", format_double},
    {"check a key", key_check},
    {"join prefix and key", key_join},
    {"make a DN, plain", dn_plain},
    {"make a DN, hex", dn_hex},
    {"make a DN of an open store", dn_below},
};

int main(int argc, char **argv)
{
    reply = skv_reply_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 3)
            puts(cases[i].name);
        else if (strcmp(argv[1], cases[i].name) == 0)
            for (long left = atol(argv[2]); left > 0; left--)
                cases[i].run();
    }
    skv_reply_free(reply);
    return 0;
}
