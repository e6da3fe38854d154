#include "ldap/settings.h"

#include "simpkv.h"

#define OPTION(member, of_type, default_text, ...)                                                                     \
    {                                                                                                                  \
        .name = #member, .type = SKV_OPTION_##of_type, .offset = offsetof(skv_ldap_settings, member),                  \
        .usual = default_text, __VA_ARGS__                                                                             \
    }

static const char *const layouts[] = {[SKV_LAYOUT_PLAIN] = "plain", [SKV_LAYOUT_HEX] = "hex", NULL};

static const skv_option_row rows[] = {
    OPTION(id, TEXT, "", .meaning = "the name of the folder below `base_dn` that holds the keys of the store"),
    OPTION(ldap_uri, URIS, "",
           .meaning = "the servers, in the order in which simpkv tries them: `ldap://`, `ldaps://`, or `ldapi://` with "
                      "`%2F` for each `/` of the socket's path"),
    OPTION(write_uri, URIS, "",
           .meaning =
               "the servers for writes, and for a catalog's reads after its first write; `compare_and_put` reads "
               "there, and so does `get_or_create` for a key that `ldap_uri` does not have"),
    OPTION(base_dn, TEXT, "ou=simpkv,o=puppet,dc=simp", .meaning = "the entry that holds all keys; it must exist"),
    OPTION(admin_dn, TEXT, "cn=Directory_Manager", .meaning = "the bind DN"),
    OPTION(admin_pw_file, PATH, "",
           .meaning = "the file with the password; one newline at its end is ignored. Without this option, `ldapi://` "
                      "binds as the local user. After the server has refused the password, simpkv waits 10 s before it "
                      "tries again, then longer, up to 60 s. The wait ends when the file changes, or when the owner of "
                      "the file runs `simpkv ping` and the server accepts the password. If the server refuses the "
                      "password of a changed file, a running process continues with the previous password, and warns"),
    OPTION(anonymous, BOOLEAN, "false",
           .meaning = "true: the store does not bind, and ignores `admin_dn` and `admin_pw_file`"),
    OPTION(enable_tls, BOOLEAN, "false",
           .meaning =
               "true: `ldap://` begins with StartTLS, which must succeed; no effect for `ldaps://` and `ldapi://`"),
    OPTION(tls_cacert, PATH, "",
           .meaning = "the file with the CA certificates, one of which must have issued the server's certificate"),
    OPTION(tls_cert, PATH, "", .meaning = "the client's certificate, if the server requires one"),
    OPTION(tls_key, PATH, "", .meaning = "the key of `tls_cert`"),
    OPTION(layout, CHOICE, "plain", .choices = layouts,
           .meaning =
               "how names of keys are stored in the directory: `plain`, or `hex`, which keeps upper and lower case"),
    OPTION(fold_case, BOOLEAN, "false",
           .meaning =
               "true: an environment or id may have capital letters. The directory ignores case: `Dev` and `dev` "
               "share their keys"),
    OPTION(strict_paths, BOOLEAN, "false", .meaning = "true: a key and a folder may not share a name"),
    OPTION(retries, INTEGER, "1", .min = 0, .max = 100,
           .meaning =
               "the number of retries if a server is busy or unavailable, or the connection is lost. simpkv does "
               "not retry a list after the first entries have arrived, nor a call that has waited for a connection "
               "for `connect_timeout_ms`"),
    OPTION(connect_timeout_ms, MILLISECONDS, "5000", .min = 1, .max = INT64_MAX,
           .meaning = "the time to wait for a connection to one server"),
    OPTION(pool_size, INTEGER, "8", .min = 1, .max = 1000,
           .meaning = "the maximum number of open connections of a process, for each directory and bind DN"),
    OPTION(pool_timeout_ms, MILLISECONDS, "5000", .min = 0, .max = INT64_MAX,
           .meaning = "the time to wait for a free connection"),
    OPTION(idle_timeout_ms, MILLISECONDS, "60000", .min = 0, .max = INT64_MAX,
           .meaning = "the time after which an idle connection is closed"),
    OPTION(page_size, INTEGER, "500", .min = 1, .max = 100000,
           .meaning = "the number of entries that a list requests at a time: a larger folder takes several requests"),
};

const skv_option_table skv_ldap_options = {"ldap", sizeof rows / sizeof *rows, rows};
