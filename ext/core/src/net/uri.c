#include "net/uri.h"

#include "base/hex.h"
#include "name/key.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

static const struct {
    const char *prefix;
    int port;
} schemes[] = {
    [SKV_LDAP] = {"ldap://", 389},
    [SKV_LDAPS] = {"ldaps://", 636},
    [SKV_LDAPI] = {"ldapi://", 0},
};

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* Decodes the path of a socket, and writes the normalised URI. Returns NULL, or the error. */
static const char *read_socket_path(const char *text, size_t len, skv_uri *uri)
{
    size_t used = 0, shown = strlen(schemes[SKV_LDAPI].prefix);

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '/')
            return "the path of its socket must be written with %2F for '/'";
        if (c == '%') {
            if (i + 2 >= len || !skv_hex_decode(text + i + 1, &c))
                return "a '%' is not followed by two hexadecimal digits";
            i += 2;
        }
        if (c == 0)
            return "its path holds a NUL";
        if (used + 1 >= sizeof((struct sockaddr_un *)0)->sun_path)
            return "its path is too long for a socket";
        uri->host[used++] = c;
        shown += (size_t)snprintf(uri->text + shown, sizeof uri->text - shown,
                                  is_one_of(c, LOWER UPPER DIGITS "-._~") ? "%c" : "%%%02X", (unsigned char)c);
    }
    if (uri->host[0] != '/')
        return "it needs the absolute path of a socket, as in ldapi://%2Fvar%2Frun%2Fldapi";
    return NULL;
}

/* Parses the text after the host. Returns NULL, or the error. */
static const char *read_port(const char *text, size_t len, skv_uri *uri)
{
    if (len == 0)
        return NULL;
    if (text[0] != ':')
        return "it may hold a host and a port, but nothing else";
    uri->port = 0;
    for (size_t i = 1; i < len && uri->port <= 65535; i++) {
        if (!is_one_of(text[i], DIGITS))
            return "its port is not a number";
        uri->port = uri->port * 10 + (text[i] - '0');
    }
    return uri->port < 1 || uri->port > 65535 ? "its port is not between 1 and 65535" : NULL;
}

/* Spells an address of IPv6 in the one way of RFC 5952. Returns NULL, or the error. */
static const char *normalise_address(skv_uri *uri)
{
    struct in6_addr address;

    if (inet_pton(AF_INET6, uri->host, &address) != 1 || !inet_ntop(AF_INET6, &address, uri->host, sizeof uri->host))
        return "it holds no address of IPv6 between its brackets";
    return NULL;
}

static const char *read_host(const char *text, size_t len, skv_uri *uri)
{
    bool bracket = len && text[0] == '[';
    const char *allowed = bracket ? DIGITS "abcdefABCDEF:." : LOWER UPPER DIGITS "-._";
    size_t from = bracket, end = from;
    const char *wrong;

    while (end < len && is_one_of(text[end], allowed))
        end++;
    if (end == from)
        return "it names no host";
    if (end - from >= sizeof uri->host)
        return "its host name is too long";
    for (size_t i = from; i < end; i++)
        uri->host[i - from] = is_one_of(text[i], UPPER) ? (char)(text[i] - 'A' + 'a') : text[i];
    if (bracket && (end == len || text[end++] != ']'))
        return "its address has no closing bracket";
    uri->port = schemes[uri->scheme].port;
    wrong = bracket ? normalise_address(uri) : NULL;
    if (!wrong)
        wrong = read_port(text + end, len - end, uri);
    if (!wrong)
        snprintf(uri->text, sizeof uri->text, bracket ? "%s[%s]:%d" : "%s%s:%d", schemes[uri->scheme].prefix, uri->host,
                 uri->port);
    return wrong;
}

/* Returns NULL, or the error. */
static const char *read_uri(const char *text, size_t len, skv_uri *uri)
{
    memset(uri, 0, sizeof *uri);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t prefix = strlen(schemes[i].prefix);

        if (len < prefix || strncasecmp(text, schemes[i].prefix, prefix) != 0)
            continue;
        uri->scheme = (skv_scheme)i;
        text += prefix;
        len -= prefix;
        if (len > 1 && text[len - 1] == '/')
            len--;
        if (uri->scheme != SKV_LDAPI)
            return read_host(text, len, uri);
        memcpy(uri->text, schemes[i].prefix, prefix);
        return read_socket_path(text, len, uri);
    }
    return "it starts with none of ldap://, ldaps:// and ldapi://";
}

/* Keeps the URI at the end of the list, unless it names a server that is there already. */
static void keep_last(skv_uris *uris)
{
    for (int i = 0; i < uris->count; i++)
        if (strcmp(uris->uri[i].text, uris->uri[uris->count].text) == 0)
            return;
    uris->count++;
}

skv_status skv_uris_parse(const char *text, size_t len, skv_uris *out, skv_reply *reply)
{
    out->count = 0;
    for (size_t i = 0, end; i < len; i = end) {
        const char *wrong;

        for (end = i; end < len && !is_one_of(text[end], " ,\t\r\n"); end++)
            ;
        if (end == i) {
            end++;
            continue;
        }
        if (out->count == SKV_URIS_MAX)
            return skv_fail(reply, SKV_INVALID, "Invalid 'ldap_uri' configuration: more than %d URIs", SKV_URIS_MAX);
        wrong = read_uri(text + i, end - i, &out->uri[out->count]);
        if (wrong)
            return skv_fail(reply, SKV_INVALID,
                            "Invalid 'ldap_uri' configuration: '%s': %s (expected ldap://host[:port], "
                            "ldaps://host[:port] or ldapi://percent-encoded-path)",
                            skv_quoted(text + i, end - i).text, wrong);
        keep_last(out);
    }
    if (!out->count)
        return skv_fail(reply, SKV_INVALID, "Invalid 'ldap_uri' configuration: it holds no URI");
    return SKV_OK;
}

skv_status skv_ldap_uris(const char *uris, size_t uris_len, skv_reply *reply)
{
    skv_uris *parsed;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!uris)
        return skv_fail(reply, SKV_INVALID, "a list of URIs is NULL");
    parsed = skv_alloc(sizeof *parsed);
    if (!parsed)
        return skv_fail_memory(reply);
    if (skv_uris_parse(uris, uris_len, parsed, reply) == SKV_OK) {
        for (int i = 0; i < parsed->count; i++) {
            skv_buf_put_string(&reply->data, i ? " " : "");
            skv_buf_put_string(&reply->data, parsed->uri[i].text);
        }
        skv_reply_done(reply);
    }
    skv_free(parsed);
    return reply->status;
}
