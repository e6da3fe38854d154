#include "directory.h"

#include "check.h"

#include <string.h>

slapd server;

static const char base_tree[] = "dn: dc=simp\nobjectClass: dcObject\nobjectClass: organization\ndc: simp\no: simp\n\n"
                                "dn: " DIRECTORY_USER_DN "\nobjectClass: organizationalRole\n"
                                "objectClass: simpleSecurityObject\ncn: simpkv\nuserPassword: " SLAPD_PASSWORD "\n\n"
                                "dn: o=puppet,dc=simp\nobjectClass: organization\no: puppet\n\n"
                                "dn: " DIRECTORY_BASE_DN "\nobjectClass: organizationalUnit\nou: simpkv\n";

static const char access_rules[] =
    "access to attrs=userPassword by anonymous auth\n"
    "access to dn.subtree=\"" DIRECTORY_BASE_DN "\" by dn.exact=\"" DIRECTORY_USER_DN "\" write by * none\n"
    "access to * by dn.exact=\"" DIRECTORY_USER_DN "\" read by * none\n"
    "dbnosync\nmaxsize 1073741824\n";

bool directory_modify(slapd *s, const char *ldif)
{
    char command[512];
    FILE *pipe;

    snprintf(command, sizeof command, "ldapmodify -a -Q -Y EXTERNAL -H %s >>%s/ldapmodify.log 2>&1", s->ldapi,
             s->folder);
    pipe = popen(command, "w");
    if (!pipe)
        return false;
    fputs(ldif, pipe);
    return pclose(pipe) == 0;
}

bool directory_begin(slapd *s, const char *schema, const char *database)
{
    char include[1024] = "", lines[2048];

    if (schema)
        snprintf(include, sizeof include, "include %s", schema);
    snprintf(lines, sizeof lines, "%s\n%s", database, access_rules);
    return slapd_begin_with(s, SLAPD_TLS, include, lines) && directory_modify(s, base_tree);
}

skv_store *open_at_uri(const char *uri, bool root, const char *const *more)
{
    char options[2048];
    size_t used = 0;
    bool has_timeout = false;

#define OPTION(...) used += (size_t)snprintf(options + used, sizeof options - used, __VA_ARGS__) + 1
    OPTION("ldap_uri%c%s", '\0', uri);
    OPTION("base_dn%c%s", '\0', DIRECTORY_BASE_DN);
    if (!root) {
        OPTION("admin_dn%c%s", '\0', DIRECTORY_USER_DN);
        OPTION("admin_pw_file%c%s", '\0', server.password_file);
    }
    for (; more && *more; more++) {
        const char *value = strchr(*more, '=') + 1;

        has_timeout |= strncmp(*more, "connect_timeout_ms=", 19) == 0;
        OPTION("%.*s%c%s", (int)(value - *more - 1), *more, '\0', value);
    }
    /* valgrind on a busy machine needs longer than the usual 5 s. */
    if (!has_timeout)
        OPTION("connect_timeout_ms%c%d", '\0', LONG_MS);
#undef OPTION
    return skv_open("ldap", 4, options, used, reply);
}

skv_store *open_with(bool root, const char *const *more)
{
    return open_at_uri(server.ldapi, root, more);
}

skv_store *open_through(const proxy *p, const char *retries)
{
    char option[32];
    skv_store *opened;

    snprintf(option, sizeof option, "retries=%s", retries);
    opened = open_at_uri(p->uri, false, (const char *[]){"id=plain", option, NULL});
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_exists(opened, "", 0, LONG_MS, NULL, reply) == SKV_OK);
    return opened;
}

void run_ldap_tests(const char *schema, const char *database, bool root, const char *const *options,
                    void (*tests)(void))
{
    if (!CHECK(directory_begin(&server, schema, database)))
        return;
    store = open_with(root, options);
    if (CHECK_STATUS(reply, SKV_OK))
        tests();
    skv_close(store);
    slapd_end(&server);
}

skv_store *other_client;

void other_puts(const char *key, const char *document)
{
    skv_reply *mine = skv_reply_new();

    CHECK(skv_put(other_client, key, strlen(key), document, strlen(document), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL,
                  mine) == SKV_OK);
    skv_reply_free(mine);
}

void run_through(proxy *between, bool hide_assertion, const char *const *options, void (*tests)(void))
{
    skv_store *mine = store;

    if (!CHECK(proxy_begin(between, server.port)))
        return;
    between->hide_assertion = hide_assertion;
    store = open_at_uri(between->uri, false, options);
    CHECK(skv_exists(store, "", 0, LONG_MS, NULL, reply) == SKV_OK);
    other_client = open_with(false, options);
    tests();
    skv_close(other_client);
    skv_close(store);
    store = mine;
    proxy_end(between);
}

void run_without_assertions(void (*test)(void))
{
    proxy between;

    run_through(&between, true, (const char *[]){"id=plain", "retries=1", NULL}, test);
}
