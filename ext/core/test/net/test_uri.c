#include "check.h"
#include "net/uri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static skv_reply *reply;

static void a_uri_is_normalised_or_refused(const test_case *c)
{
    static const char *const names[] = {"ldap", "ldaps", "ldapi"};
    skv_uris uris;

    skv_reply_reset(reply);
    skv_uris_parse(c->field[0], c->len[0], &uris, reply);
    if (c->field[1][0] == '!') {
        CHECK_STATUS(reply, SKV_INVALID);
        CHECK_HAS(skv_reply_message(reply), "Invalid 'ldap_uri' configuration");
        CHECK_HAS(skv_reply_message(reply), c->field[1] + 1);
        return;
    }
    if (!CHECK_STATUS(reply, SKV_OK) || !CHECK(uris.count == 1))
        return;
    CHECK_STR(uris.uri[0].text, c->field[1]);
    CHECK_STR(names[uris.uri[0].scheme], c->field[2]);
    CHECK_STR(uris.uri[0].host, c->field[3]);
    CHECK(uris.uri[0].port == atoi(c->field[4]));
}

static void a_list_is_separated_by_spaces_or_commas(void)
{
    static const char text[] = " ldap://a,ldaps://b:1\n, ldapi://%2Fc ";
    skv_uris uris;

    skv_reply_reset(reply);
    CHECK(skv_uris_parse(text, strlen(text), &uris, reply) == SKV_OK);
    CHECK(uris.count == 3);
    CHECK_STR(uris.uri[0].text, "ldap://a:389");
    CHECK_STR(uris.uri[1].text, "ldaps://b:1");
    CHECK_STR(uris.uri[2].text, "ldapi://%2Fc");
}

static void a_list_of_none_or_too_many_is_refused(void)
{
    char many[512] = "";
    skv_uris uris;

    skv_reply_reset(reply);
    CHECK(skv_uris_parse(" , ", 3, &uris, reply) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "it holds no URI");
    for (int i = 0; i <= SKV_URIS_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "ldap://a:%02d ", i + 1);
    skv_reply_reset(reply);
    CHECK(skv_uris_parse(many, strlen(many), &uris, reply) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "more than 16 URIs");
    skv_reply_reset(reply);
    CHECK(skv_uris_parse(many, strlen(many) - strlen("ldap://a:17 "), &uris, reply) == SKV_OK);
    CHECK(uris.count == SKV_URIS_MAX);
}

static void a_list_is_written_with_each_server_once(void)
{
    static const char text[] = "LDAPS://Ldap1.example.com, ldaps://ldap1.example.com:636/ ldapi://%2frun%2fldapi";

    skv_reply_reset(reply);
    CHECK(skv_ldap_uris(text, strlen(text), reply) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "ldaps://ldap1.example.com:636 ldapi://%2Frun%2Fldapi");
    CHECK(skv_ldap_uris("ldaps://a/dc=x", 14, reply) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "nothing else");
    CHECK(skv_reply_size(reply) == 0);
    CHECK(skv_ldap_uris(NULL, 0, reply) == SKV_INVALID);
}

int main(void)
{
    reply = skv_reply_new();
    each_case("uris.tsv", a_uri_is_normalised_or_refused);
    a_list_is_separated_by_spaces_or_commas();
    a_list_of_none_or_too_many_is_refused();
    a_list_is_written_with_each_server_once();
    skv_reply_free(reply);
    return check_summary("uri");
}
