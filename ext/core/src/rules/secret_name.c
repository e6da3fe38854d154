#include "rules/secret_name.h"

#include "base/ascii.h"

#include <string.h>

/* A pattern is text in lower case that a name contains anywhere. '_' stands for the beginning or the end of a word of
 * the name, and '~' for a place where a word may end. So "_otp_" is a word, "pw_" ends one, and "api~key" is in apiKey,
 * API-Key and apikeys.
 *
 * These are the names of credentials that filters of logs and scanners for secrets have: those of Rails, Ansible,
 * Sentry, gitleaks and detect-secrets. Names of public data are not among them: email, certificate, and a key of
 * another kind than these. */
static const char *const PATTERNS[26][16] = {
    ['a' - 'a'] = {"api~key", "access~key", "auth~key", "account~key", "_app~key", "application~key", "aes~key",
                   "_authorization_"},
    ['b' - 'a'] = {"_bearer_", "backup~code"},
    ['c' - 'a'] = {"credential", "_cred_", "_creds_", "cookie", "client~key", "consumer~key", "connection~string",
                   "community~string", "crypt~key", "cipher~key", "_crypt_", "_csrf_", "_cvv_", "_cvc_"},
    ['d' - 'a'] = {"_db~key", "database~key", "deploy~key", "_dsn_"},
    ['e' - 'a'] = {"encryption~key"},
    ['h' - 'a'] = {"hmac~key"},
    ['j' - 'a'] = {"_jwt_"},
    ['l' - 'a'] = {"license~key", "licence~key", "luks~key"},
    ['m' - 'a'] = {"master~key", "masterauth", "mnemonic"},
    ['o' - 'a'] = {"_otp_"},
    ['p' - 'a'] = {"passw", "passphrase", "passcode", "passkey", "pass_", "pw_", "pwhash", "pwd", "private~key",
                   "priv~key", "_psk_"},
    ['r' - 'a'] = {"recovery~key", "recovery~code", "_ro~community", "_rw~community"},
    ['s' - 'a'] = {"secret", "session~id", "session~key", "service~key", "server~key", "shared~key", "signing~key",
                   "sign~key", "_ssl~key", "storage~key", "snmp~community", "_salt_", "_ssn_"},
    ['t' - 'a'] = {"token", "_totp_", "_tls~key"},
    ['u' - 'a'] = {"unseal~key"},
    ['w' - 'a'] = {"webhook", "wifi~key"},
};

/* Words that end with "pass" and are no passwords. */
static const char *const HARMLESS[] = {"bypass",  "compass",  "encompass", "overpass",
                                       "surpass", "trespass", "underpass"};

typedef struct name_text {
    const char *begin, *end;
} name_text;

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Bytes that are not ASCII count as lower-case letters. */
static bool is_letter(char c)
{
    char lower = skv_ascii_lower(c);

    return (lower >= 'a' && lower <= 'z') || (unsigned char)c >= 0x80;
}

static bool is_word_byte(char c)
{
    return is_letter(c) || skv_ascii_is_digit(c);
}

/* Returns true if a word begins or ends at this place, as twice in "rootPW2". */
static bool is_boundary(name_text name, const char *at)
{
    if (at == name.begin || at == name.end || !is_word_byte(at[-1]) || !is_word_byte(*at))
        return true;
    if (skv_ascii_is_digit(at[-1]) != skv_ascii_is_digit(*at))
        return true;
    if (!is_upper(*at))
        return false;
    /* In "LDAPPassword", the last capital letter of a run begins a word. */
    return !is_upper(at[-1]) || (at + 1 < name.end && is_letter(at[1]) && !is_upper(at[1]));
}

static const char *skip_separators(name_text name, const char *at)
{
    while (at < name.end && !is_word_byte(*at))
        at++;
    return at;
}

/* Returns the end of the pattern's match that begins at this place, or NULL. */
static const char *match_at(name_text name, const char *at, const char *pattern)
{
    for (; *pattern; pattern++) {
        if (*pattern == '_') {
            if (!is_boundary(name, at))
                return NULL;
        } else if (*pattern == '~') {
            at = skip_separators(name, at);
        } else {
            if (at == name.end || skv_ascii_lower(*at) != *pattern)
                return NULL;
            at++;
        }
    }
    return at;
}

static bool is_harmless(name_text name, const char *end)
{
    for (size_t i = 0; i < sizeof HARMLESS / sizeof *HARMLESS; i++) {
        size_t len = strlen(HARMLESS[i]);
        const char *begin = (size_t)(end - name.begin) >= len ? end - len : NULL;

        if (begin && is_boundary(name, begin) && match_at(name, begin, HARMLESS[i]))
            return true;
    }
    return false;
}

static bool has_pattern(name_text name)
{
    for (const char *at = name.begin; at < name.end; at++) {
        char letter = skv_ascii_lower(*at);

        if (letter < 'a' || letter > 'z')
            continue;
        for (const char *const *pattern = PATTERNS[letter - 'a']; *pattern; pattern++) {
            const char *end = match_at(name, at, *pattern);

            if (end && !(strcmp(*pattern, "pass_") == 0 && is_harmless(name, end)))
                return true;
        }
    }
    return false;
}

int skv_is_secret_name(const char *name, size_t name_len)
{
    return has_pattern((name_text){name, name + name_len});
}

/* ---- Words ---- */

/* Returns true if the words of `sought` follow one another in the name, from this place on. */
static bool has_words_at(name_text name, const char *at, name_text sought)
{
    const char *s = skip_separators(sought, sought.begin);

    if (s == sought.end)
        return false;
    for (; s < sought.end; s++, at++) {
        if (!is_word_byte(*s)) {
            s = skip_separators(sought, s);
            if (!is_boundary(name, at))
                return false;
            if (s == sought.end)
                return true;
            at = skip_separators(name, at);
        }
        if (at == name.end || skv_ascii_lower(*at) != skv_ascii_lower(*s))
            return false;
    }
    return is_boundary(name, at);
}

static bool has_words(name_text name, name_text sought)
{
    for (const char *at = name.begin; at < name.end; at++)
        if (is_boundary(name, at) && has_words_at(name, at, sought))
            return true;
    return false;
}

int skv_name_has_words(const char *name, size_t name_len, const char *lines, size_t lines_len)
{
    const char *end;

    if (!lines_len)
        return 0;
    end = lines + lines_len;
    while (lines < end) {
        const char *line_end = memchr(lines, '\n', (size_t)(end - lines));

        if (!line_end)
            line_end = end;
        if (has_words((name_text){name, name + name_len}, (name_text){lines, line_end}))
            return 1;
        lines = line_end + (line_end < end);
    }
    return 0;
}

bool skv_secret_names_have(const skv_secret_names *names, const char *name)
{
    size_t len = strlen(name);

    return skv_is_secret_name(name, len) || skv_name_has_words(name, len, names->more, names->more_len);
}
