/* Distinguished names: from path to DN and back, in both layouts. */
#include "chaos.h"
#include "check.h"
#include "name/dn.h"

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
    return strcmp(name, "key") == 0 ? SKV_KIND_KEY : strcmp(name, "folder") == 0 ? SKV_KIND_FOLDER : SKV_KIND_NONE;
}

/* The same DN comes of that of the instance; it is in the reply. */
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
    char *dn;

    skv_dn_from_path(layout, kind, c->field[2], c->len[2], c->field[3], c->len[3], c->field[4], c->len[4], reply);
    CHECK_STATUS(reply, wanted);
    if (wanted != SKV_OK) {
        CHECK_HAS(skv_reply_message(reply), c->field[6]);
        return;
    }
    CHECK_STR(skv_reply_data(reply), c->field[6]);
    check_below(layout, kind, c);
    dn = strdup(skv_reply_data(reply));
    skv_path_from_dn(layout, c->field[2], c->len[2], c->field[3], c->len[3], dn, strlen(dn), reply);
    CHECK_STATUS(reply, SKV_OK);
    CHECK_STR(skv_reply_data(reply), c->field[4]);
    free(dn);
}

static void check_path(const test_case *c)
{
    int wanted = status_named(c->field[4]);

    skv_path_from_dn(layout_named(c->field[0]), c->field[1], c->len[1], c->field[2], c->len[2], c->field[3], c->len[3],
                     reply);
    CHECK_STATUS(reply, wanted);
    if (wanted != SKV_OK) {
        CHECK_HAS(skv_reply_message(reply), c->field[6]);
        return;
    }
    CHECK(skv_reply_number(reply) == kind_named(c->field[5]));
    CHECK_STR(skv_reply_data(reply), c->field[6]);
}

static void check_filter(const test_case *c)
{
    skv_filter_escape(c->field[0], c->len[0], reply);
    CHECK_STATUS(reply, SKV_OK);
    CHECK_STR(skv_reply_data(reply), c->field[1]);
}

static int dn_of(int layout, int kind, const char *path)
{
    return skv_dn_from_path(layout, kind, BASE, strlen(BASE), "default", 7, path, strlen(path), reply);
}

/* LDAP.md: slapd's mdb takes an RDN of 240 bytes. */
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
    CHECK(skv_path_from_dn(0, BASE, strlen(BASE), "i", 1, NULL, 0, reply) == SKV_INVALID);
    CHECK(skv_filter_escape(NULL, 0, reply) == SKV_INVALID);
}

static void conversions_survive_a_failed_allocation(void)
{
    static const char dn[] = "simpkvKey=a,ou=globals,ou=i,ou=instances," BASE;
    skv_reply *mine = skv_reply_new();
    int status;

    if (!mine)
        return;
    status = skv_dn_from_path(0, SKV_KIND_KEY, BASE, strlen(BASE), "i", 1, "globals/a", 9, mine);
    CHECK(status == SKV_NOMEM || (status == SKV_OK && strcmp(skv_reply_data(mine), dn) == 0));
    status = skv_path_from_dn(0, BASE, strlen(BASE), "i", 1, dn, strlen(dn), mine);
    CHECK(status == SKV_NOMEM || (status == SKV_OK && strcmp(skv_reply_data(mine), "globals/a") == 0));
    status = skv_filter_escape("a*", 2, mine);
    CHECK(status == SKV_NOMEM || (status == SKV_OK && strcmp(skv_reply_data(mine), "a\\2a") == 0));
    skv_reply_free(mine);
}

int main(void)
{
    reply = skv_reply_new();
    each_case("dns.tsv", check_dn);
    each_case("paths.tsv", check_path);
    each_case("filters.tsv", check_filter);
    names_that_slapd_refuses_are_refused_before_sending();
    deep_paths_are_refused_when_the_whole_is_too_long();
    missing_and_unknown_arguments_are_refused();
    chaos(conversions_survive_a_failed_allocation);
    skv_reply_free(reply);
    return check_summary("dn");
}
