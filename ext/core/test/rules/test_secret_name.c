/* Names of members that hold secrets. */
#include "rules/secret_name.h"

#include "check.h"

#include <string.h>

static void check_names(const char *const *names, int expected)
{
    for (; *names; names++)
        if (!CHECK(skv_is_secret_name(*names, strlen(*names)) == expected))
            printf("  %s\n", *names);
}

static void names_of_secrets_are_known(void)
{
    static const char *const secret[] = {
        "password", "Password", "db_password", "passwords", "PASSWD", "passphrase", "secret", "client_secret", "token",
        "tokens", "credential", "credentials", "private_key", "privatekey", "myPrivateKeyFile", "private-key",
        /* Short forms, at the end of a word. */
        "pw", "bindpw", "rootpw", "olcRootPW", "BINDPW", "dbPw", "root_pw", "pw_hash", "bindPW2", "pwd", "mysql_pwd",
        "userpwd", "PGPWD", "pass", "db_pass", "dbpass", "requirepass", "sshpass", "creds", "cred", "passwort",
        /* Keys of kinds that are secret. */
        "api_key", "APIKEY", "x-api_key-y", "apiKey", "X-API-Key", "api key", "aws_access_key", "aws_access_key_id",
        "AWSAccessKeyId", "secretAccessKey", "encryption_key", "encryptionKeys", "signing_key", "shared-key",
        "preSharedKey", "psk", "wpa_psk", "master_key", "license_key", "ssl_key", "storageKey", "luks_crypt_key",
        /* What others are called. */
        "otp", "totp_seed", "OTP", "cvv", "cvc", "ssn", "salt", "jwt", "erlang_cookie", "erlangcookie", "session_id",
        "sessionid", "csrf", "connection_string", "connectionString", "snmp_community", "rocommunity", "masterauth",
        "authorization", "webhook_url", "unseal_keys", "recovery_codes", "passcode", "passkey", "deploy_key",
        "luks_key", "wifi_key", "pwhash", "slack_webhook", "mnemonic", "sentry_dsn", NULL};

    check_names(secret, 1);
    CHECK(skv_is_secret_name("passwords", 8) == 1);
    CHECK(skv_is_secret_name("a\0token", 7) == 1);
    CHECK(skv_is_secret_name("pass\0phrase", 11) == 1);
}

static void other_names_are_not(void)
{
    static const char *const other[] = {"",
                                        "key",
                                        "keys",
                                        "public_key",
                                        "sshrsakey",
                                        "ssh_authorized_key",
                                        "sort_key",
                                        "primary_key",
                                        "apikex",
                                        "key_type",
                                        "apt_key",
                                        "gpgkey",
                                        "host_key",
                                        "authorized_keys",
                                        "tok",
                                        "secre",
                                        "userid",
                                        "private",
                                        "ports",
                                        "t",
                                        "p",
                                        "crede",
                                        "taken_s",
                                        "asecre_t",
                                        "passive",
                                        "passenger",
                                        "passthrough",

                                        "spwn",
                                        "pwn",
                                        "bypass",
                                        "Bypass",
                                        "tls_bypass",
                                        "compass",
                                        "encompass",
                                        "overpass",
                                        "email",
                                        "certificate",
                                        "author",
                                        "auth_type",
                                        "community",
                                        "credit",
                                        "assault",
                                        "basalt",
                                        "optical",
                                        "hotplug",
                                        "adsn",
                                        "snapshot",
                                        "uuid",
                                        "os",
                                        "release",
                                        "mountpoints",
                                        "networking",
                                        "is_virtual",
                                        "saltstack",
                                        "encrypted",
                                        "dsnap",
                                        "psks",
                                        NULL};

    check_names(other, 0);
    CHECK(skv_is_secret_name("password", 4) == 1);
    CHECK(skv_is_secret_name("passenger", 5) == 0);
    CHECK(skv_is_secret_name("\xff", 1) == 0);
}

static int has(const char *name, const char *lines)
{
    return skv_name_has_words(name, strlen(name), lines, strlen(lines));
}

static void a_site_adds_words(void)
{
    static const char *const in[] = {"snmp_text", "old_SNMP-text2", "snmpText", "SNMPText", "a.snmp...text", NULL};
    static const char *const not_in[] = {"snmp_texts", "snmptext",    "xsnmp_text", "snmp",
                                         "text",       "snmp_x_text", "",           NULL};

    for (const char *const *name = in; *name; name++)
        CHECK(has(*name, "snmp text") == 1 && has(*name, "nothing\nsnmp_text") == 1 && has(*name, "-snmp-text-") == 1);
    for (const char *const *name = not_in; *name; name++)
        CHECK(has(*name, "snmp text") == 0 && has(*name, "") == 0 && has(*name, "\n__\n") == 0);
    CHECK(has("kennwort", "pin\nKennwort\n") == 1);
    CHECK(has("b\xc3\xbcro_pin", "b\xc3\xbcro\npin") == 1);
    CHECK(skv_name_has_words("pin", 3, NULL, 0) == 0);
    CHECK(skv_secret_names_have(&(skv_secret_names){"pin", 3}, "door_pin"));
    CHECK(!skv_secret_names_have(&(skv_secret_names){0}, "door_pin"));
}

int main(void)
{
    names_of_secrets_are_known();
    other_names_are_not();
    a_site_adds_words();
    return check_summary("secret_name");
}
