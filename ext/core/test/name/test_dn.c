/* Distinguished names: the DN of a path in both layouts, and the parsing of DNs. */
#include "chaos.h"
#include "check.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>

#define BASE "ou=simpkv,o=puppet,dc=simp"

static skv_reply *reply;

static int layout_named(const char *name)
{
    return strcmp(name, "hex") == 0 ? SKV_LAYOUT_HEX : SKV_LAYOUT_PLAIN;
}

static int kind_named(const char *name)
{
    return strcmp(name, "key") == 0 ? SKV_KIND_KEY : SKV_KIND_FOLDER;
}

/* The DN below that of the instance is the same. */
static void check_below(int layout, int kind, const test_case *c)
{
    char *dn = strdup(skv_reply_data(reply)), *above;

    skv_dn_from_path(layout, SKV_KIND_FOLDER, c->field[2], c->len[2], c->field[3], c->len[3], "globals", 7, reply);
    above = strdup(skv_reply_data(reply) + strlen("ou=globals,"));
    skv_dn_below(layout, kind, above, strlen(above), c->field[4], c->len[4], reply);
    CHECK_STR(skv_reply_data(reply), dn);
    free(above);
    free(dn);
}

static void check_dn(const test_case *c)
{
    int layout = layout_named(c->field[0]), kind = kind_named(c->field[1]), wanted = status_named(c->field[5]);

    skv_dn_from_path(layout, kind, c->field[2], c->len[2], c->field[3], c->len[3], c->field[4], c->len[4], reply);
    CHECK_STATUS(reply, wanted);
    if (wanted != SKV_OK) {
        CHECK_HAS(skv_reply_message(reply), c->field[6]);
        return;
    }
    CHECK_STR(skv_reply_data(reply), c->field[6]);
    CHECK(names_path(skv_reply_data(reply), c->field[4], c->len[4]));
    check_below(layout, kind, c);
}

/* NULL: the text is not an RDN, or the value is not hexadecimal. */
static void rdns_are_read_as_rfc_4514_spells_them(void)
{
    static const struct {
        const char *text, *attribute, *value, *unhexed;
    } cases[] = {{"simpkvKey=a\\,b\\2B\\ ,ou=globals", "simpkvkey", "a,b+ ", NULL},
                 {"SIMPKVKEY = a ;ou=globals", "simpkvKey", "a", NULL},
                 {"simpkvKey=\"a,b\",ou=globals", "simpkvKey", "a,b", NULL},
                 {"ou=two  spaces", "ou", "two  spaces", NULL},
                 {"simpkvKey=", "simpkvKey", "", NULL},
                 {"simpkvHexId=4B6579", "simpkvHexId", "4B6579", "Key"},
                 {"simpkvHexId=6", "simpkvHexId", "6", NULL},
                 {"simpkvHexId=zz", "simpkvHexId", "zz", NULL},
                 {"simpkvKey=6b", "simpkvKey", "6b", NULL},
                 {"simpkvKey=a\\", NULL, NULL, NULL},
                 {"=a", NULL, NULL, NULL},
                 {" =a", NULL, NULL, NULL},
                 {"ou", NULL, NULL, NULL},
                 {"", NULL, NULL, NULL}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skv_rdn rdn;

        CHECK(skv_rdn_first(cases[i].text, strlen(cases[i].text), &rdn) == (cases[i].attribute != NULL));
        if (!cases[i].attribute)
            continue;
        CHECK(skv_rdn_is(&rdn, cases[i].attribute));
        CHECK(rdn.len == strlen(cases[i].value) && memcmp(rdn.value, cases[i].value, rdn.len) == 0);
        CHECK(skv_rdn_unhex(&rdn) == (cases[i].unhexed != NULL));
        if (cases[i].unhexed)
            CHECK(rdn.len == strlen(cases[i].unhexed) && memcmp(rdn.value, cases[i].unhexed, rdn.len) == 0);
    }
}

static void ou_names_ignore_case_and_repeated_spaces(void)
{
    static const char dn[] = "OU=Two spaces,ou=Globals";
    const char *rest = dn;
    skv_rdn rdn;

    CHECK(skv_rdn_next(&rest, dn + strlen(dn), &rdn) && skv_rdn_is_ou(&rdn, "two  spaces"));
    CHECK(skv_rdn_next(&rest, dn + strlen(dn), &rdn) && skv_rdn_is_ou(&rdn, "globals"));
    CHECK(!skv_rdn_next(&rest, dn + strlen(dn), &rdn));
}

static int dn_of(int layout, int kind, const char *path)
{
    return skv_dn_from_path(layout, kind, BASE, strlen(BASE), "default", 7, path, strlen(path), reply);
}

/* slapd's mdb takes an RDN of 240 bytes. */
static void names_that_slapd_refuses_are_refused_before_sending(void)
{
    static const struct {
        int layout, kind, fits;
    } cases[] = {{SKV_LAYOUT_PLAIN, SKV_KIND_KEY, 230},
                 {SKV_LAYOUT_PLAIN, SKV_KIND_FOLDER, 237},
                 {SKV_LAYOUT_HEX, SKV_KIND_KEY, 114},
                 {SKV_LAYOUT_HEX, SKV_KIND_FOLDER, 114}};
    char path[300] = "globals/";

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(path + 8, 'k', sizeof path - 8);
        path[8 + cases[i].fits] = '\0';
        CHECK(dn_of(cases[i].layout, cases[i].kind, path) == SKV_OK);
        path[8 + cases[i].fits] = 'k';
        path[8 + cases[i].fits + 1] = '\0';
        CHECK(dn_of(cases[i].layout, cases[i].kind, path) == SKV_TOO_LARGE);
        CHECK_HAS(skv_reply_message(reply), "'kkk");
    }
}

static void deep_paths_are_refused_when_the_whole_is_too_long(void)
{
    char path[SKV_KEY_MAX + 1] = "globals";

    for (size_t i = 7; i + 2 < sizeof path; i += 2)
        memcpy(path + i, "/d", 3);
    CHECK(dn_of(SKV_LAYOUT_PLAIN, SKV_KIND_KEY, path) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "8192");
    path[7 + 2 * 1000] = '\0';
    CHECK(dn_of(SKV_LAYOUT_PLAIN, SKV_KIND_KEY, path) == SKV_OK);
}

static void missing_and_unknown_arguments_are_refused(void)
{
    CHECK(skv_dn_from_path(2, SKV_KIND_KEY, BASE, strlen(BASE), "i", 1, "globals/a", 9, reply) == SKV_INVALID);
    CHECK(skv_dn_from_path(0, 7, BASE, strlen(BASE), "i", 1, "globals/a", 9, reply) == SKV_INVALID);
    CHECK(skv_dn_from_path(0, SKV_KIND_KEY, NULL, 0, "i", 1, "globals/a", 9, reply) == SKV_INVALID);
    CHECK(skv_dn_from_path(0, SKV_KIND_KEY, BASE, strlen(BASE), NULL, 0, "globals/a", 9, reply) == SKV_INVALID);
    CHECK(skv_dn_from_path(0, SKV_KIND_KEY, BASE, strlen(BASE), "i", 1, NULL, 0, reply) == SKV_INVALID);
}

static void a_failed_allocation_is_a_status(void)
{
    static const char dn[] = "simpkvKey=a,ou=globals,ou=i,ou=instances," BASE;
    skv_reply *mine = skv_reply_new();
    int status;

    if (!mine)
        return;
    status = skv_dn_from_path(0, SKV_KIND_KEY, BASE, strlen(BASE), "i", 1, "globals/a", 9, mine);
    CHECK(status == SKV_NOMEM || (status == SKV_OK && strcmp(skv_reply_data(mine), dn) == 0));
    skv_reply_free(mine);
}

int main(void)
{
    reply = skv_reply_new();
    each_case("dns.tsv", check_dn);
    rdns_are_read_as_rfc_4514_spells_them();
    ou_names_ignore_case_and_repeated_spaces();
    names_that_slapd_refuses_are_refused_before_sending();
    deep_paths_are_refused_when_the_whole_is_too_long();
    missing_and_unknown_arguments_are_refused();
    chaos(a_failed_allocation_is_a_status);
    skv_reply_free(reply);
    return check_summary("dn");
}
