/*
 * The DN of a path, in two layouts:
 *
 *   plain  simpkvKey=<key>,ou=<folder>,ou=<env>,ou=environments,ou=<id>,ou=instances,<base>
 *   hex    simpkvHexId=<key>,simpkvHexId=<folder>,ou=<env>,ou=environments,simpkvHexId=<id>,ou=instances,<base>
 *
 * and the same below ou=globals, without the environment. An id with slashes is nested entries, one for each name.
 */
#include "name/dn.h"

#include "base/ascii.h"
#include "base/hex.h"
#include "name/key.h"

#include <string.h>

#define RDN_MAX 240 /* the most bytes of an RDN in slapd's mdb */
#define DN_MAX 8192 /* the most bytes of a DN in slapd */

/* ---- Escaping ---- */

static void put_escaped(skv_buf *buf, char c)
{
    skv_buf_put_char(buf, '\\');
    skv_hex_put(buf, &c, 1);
}

/* Returns true for characters that would end or change a value by RFC 4514, and for control characters. */
static bool is_special_char(const char *value, size_t len, size_t i)
{
    unsigned char c = (unsigned char)value[i];

    switch (c) {
    case '"':
    case '+':
    case ',':
    case ';':
    case '<':
    case '>':
    case '\\':
    case 0x7F:
        return true;
    case ' ':
        return i == 0 || i == len - 1;
    case '#':
        return i == 0;
    default:
        return c < 0x20;
    }
}

/* Escapes special characters as \HH, and copies runs of others at once. */
static void put_value(skv_buf *buf, const char *value, size_t len)
{
    size_t start = 0;

    for (size_t i = 0; i < len; i++) {
        if (!is_special_char(value, len, i))
            continue;
        skv_buf_put(buf, value + start, i - start);
        put_escaped(buf, value[i]);
        start = i + 1;
    }
    skv_buf_put(buf, value + start, len - start);
}

/* ---- Parsing ---- */

typedef struct text {
    const char *bytes;
    size_t len;
} text;

typedef skv_rdn rdn;

static text trim_spaces(const char *start, const char *end)
{
    while (start < end && *start == ' ')
        start++;
    /* A space behind a backslash belongs to the value. */
    while (end > start && end[-1] == ' ' && !(end - start >= 2 && end[-2] == '\\'))
        end--;
    return (text){start, (size_t)(end - start)};
}

/* Finds the next RDN of a DN, from *rest on, and moves *rest behind it. RDNs end at commas that are neither escaped nor
 * quoted. Returns false at the end. */
static bool next_rdn_text(const char **rest, const char *end, text *out)
{
    const char *start = *rest;
    bool quoted = false;

    if (start > end)
        return false;
    for (const char *p = start;; p++) {
        if (p < end && *p == '\\' && p + 1 < end) {
            p++;
        } else if (p < end && *p == '"') {
            quoted = !quoted;
        } else if (p == end || (!quoted && (*p == ',' || *p == ';'))) {
            *out = trim_spaces(start, p);
            *rest = p + 1;
            return true;
        }
    }
}

/* Decodes pairs of hex digits. Returns false if they are malformed. */
static bool unhex(const char *digits, size_t len, char *out)
{
    if (len % 2)
        return false;
    for (size_t i = 0; i < len; i += 2) {
        if (!skv_hex_decode(digits + i, &out[i / 2]))
            return false;
    }
    return true;
}

static bool unescape_value(text value, rdn *out)
{
    bool quoted = value.len >= 2 && value.bytes[0] == '"' && value.bytes[value.len - 1] == '"';
    const char *p = value.bytes + quoted, *end = value.bytes + value.len - quoted;

    for (out->len = 0; p < end; out->len++) {
        if (out->len == SKV_RDN_VALUE_MAX)
            return false;
        if (*p != '\\') {
            out->value[out->len] = *p++;
        } else if (end - p >= 3 && unhex(p + 1, 2, out->value + out->len)) {
            p += 3;
        } else if (end - p >= 2) {
            out->value[out->len] = p[1];
            p += 2;
        } else {
            return false;
        }
    }
    return true;
}

static bool parse_rdn(text source, rdn *out)
{
    const char *equals = source.len ? memchr(source.bytes, '=', source.len) : NULL;
    text type;

    if (!equals || equals == source.bytes)
        return false;
    type = trim_spaces(source.bytes, equals);
    out->type = type.bytes;
    out->type_len = type.len;
    return type.len > 0 && unescape_value(trim_spaces(equals + 1, source.bytes + source.len), out);
}

/* ---- Comparing ---- */

/* Compares as caseIgnoreMatch does for ASCII: ignores case, and takes a run of spaces for one. */
static bool is_caseless_match(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, j = 0;

    while (i < a_len && j < b_len) {
        if (skv_ascii_lower(a[i]) != skv_ascii_lower(b[j]))
            return false;
        if (a[i] == ' ') {
            while (i + 1 < a_len && a[i + 1] == ' ')
                i++;
            while (j + 1 < b_len && b[j + 1] == ' ')
                j++;
        }
        i++;
        j++;
    }
    return i == a_len && j == b_len;
}

bool skv_rdn_is(const rdn *r, const char *type)
{
    return is_caseless_match(r->type, r->type_len, type, strlen(type));
}

bool skv_rdn_is_ou(const rdn *r, const char *name)
{
    return skv_rdn_is(r, "ou") && is_caseless_match(r->value, r->len, name, strlen(name));
}

bool skv_rdn_unhex(skv_rdn *r)
{
    char name[SKV_RDN_VALUE_MAX / 2] = {0};

    if (!skv_rdn_is(r, "simpkvHexId") || !unhex(r->value, r->len, name))
        return false;
    r->len /= 2;
    memcpy(r->value, name, r->len);
    return true;
}

bool skv_rdn_next(const char **rest, const char *end, skv_rdn *out)
{
    text source;

    return next_rdn_text(rest, end, &source) && parse_rdn(source, out);
}

bool skv_rdn_first(const char *dn, size_t len, skv_rdn *out)
{
    return skv_rdn_next(&dn, dn + len, out);
}

int skv_dn_depth(const char *dn, size_t len)
{
    const char *rest = dn;
    text source;
    int depth = 0;

    while (len && next_rdn_text(&rest, dn + len, &source))
        depth++;
    return depth;
}

const char *skv_dn_above(const char *dn, size_t len, int rdns)
{
    const char *rest = dn;
    text source;

    while (rdns-- > 0 && next_rdn_text(&rest, dn + len, &source))
        ;
    return rest;
}

/* ---- Checking the arguments ---- */

/* A checked path. */
typedef struct place {
    text path;
    int count; /* of its names */
    int fixed; /* the number of names that are an ou in both layouts: "globals", or "environments" and the environment's
                */
} place;

static skv_status check_names(text path, skv_reply *reply, place *out)
{
    const char *rest = path.bytes, *end = path.bytes + path.len;
    text name;

    *out = (place){.path = path};
    for (; skv_key_next(&rest, end, &name.bytes, &name.len); out->count++) {
        if (skv_key_check_segment(name.bytes, name.len, reply) != SKV_OK)
            return reply->status;
        if (!skv_is_utf8(name.bytes, name.len))
            return skv_fail(reply, SKV_INVALID, "'%s' is not UTF-8, as a directory requires",
                            skv_quoted(name.bytes, name.len).text);
    }
    return SKV_OK;
}

static skv_status check_base(text base, skv_reply *reply)
{
    const char *rest = base.bytes, *end = base.bytes + base.len;
    text source;
    rdn parsed;

    while (next_rdn_text(&rest, end, &source))
        if (!parse_rdn(source, &parsed))
            return skv_fail(reply, SKV_INVALID, "base DN '%s' is not a distinguished name",
                            skv_quoted(base.bytes, base.len).text);
    return SKV_OK;
}

static skv_status check_common(int layout, text base, text id, skv_reply *reply, place *instance)
{
    if (!base.bytes || !id.bytes)
        return skv_fail(reply, SKV_INVALID, "a base DN or id is NULL");
    if (layout != SKV_LAYOUT_PLAIN && layout != SKV_LAYOUT_HEX)
        return skv_fail(reply, SKV_INVALID, "layout %d is unknown", layout);
    if (check_base(base, reply) == SKV_OK && check_names(id, reply, instance) == SKV_OK && instance->count == 0)
        return skv_fail(reply, SKV_INVALID, "the id of the instance is empty");
    return reply->status;
}

/* ---- From path to DN ---- */

static bool has_root(text path, const char *name)
{
    const char *rest = path.bytes;
    text first = {0};

    return skv_key_next(&rest, path.bytes + path.len, &first.bytes, &first.len) && first.len == strlen(name) &&
           memcmp(first.bytes, name, first.len) == 0;
}

static skv_status locate_path(text path, int kind, skv_reply *reply, place *where)
{
    if (check_names(path, reply, where) != SKV_OK)
        return reply->status;
    if (has_root(path, "environments"))
        where->fixed = 2;
    else if (has_root(path, "globals"))
        where->fixed = 1;
    else
        return skv_fail(reply, SKV_INVALID, "'%s' is below neither 'environments' nor 'globals'",
                        skv_quoted(path.bytes, path.len).text);
    if (kind == SKV_KIND_KEY && where->count <= where->fixed)
        return skv_fail(reply, SKV_INVALID, "'%s' specifies a folder, not a key",
                        skv_quoted(path.bytes, path.len).text);
    return SKV_OK;
}

static skv_status put_rdn(skv_reply *reply, const char *type, text name, bool hex)
{
    size_t start = reply->data.len, len;

    skv_buf_put_string(&reply->data, type);
    skv_buf_put_char(&reply->data, '=');
    if (hex)
        skv_hex_put(&reply->data, name.bytes, name.len);
    else
        put_value(&reply->data, name.bytes, name.len);
    len = reply->data.len - start;
    if (len > RDN_MAX)
        return skv_fail(reply, SKV_TOO_LARGE,
                        "'%s' is too long for a directory: it takes %zu bytes, where there is room for %zu",
                        skv_quoted(name.bytes, name.len).text, (len - strlen(type) - 1) / (hex ? 2 : 1),
                        (RDN_MAX - strlen(type) - 1) / (hex ? 2 : 1));
    skv_buf_put_char(&reply->data, ',');
    return reply->status;
}

/* Returns the name that ends at *end, and moves *end before it. */
static text previous_name(const char *start, const char **end)
{
    const char *stop = *end, *p;

    while (stop > start && stop[-1] == '/')
        stop--;
    for (p = stop; p > start && p[-1] != '/'; p--)
        ;
    *end = p;
    return (text){p, (size_t)(stop - p)};
}

/* Writes the names of a path, the last one first. `leaf` is the attribute of the last one in the plain layout. */
static skv_status put_names(skv_reply *reply, int layout, const place *where, const char *leaf)
{
    const char *end = where->path.bytes + where->path.len;

    for (int left = where->count; left > 0; left--) {
        bool hex = layout == SKV_LAYOUT_HEX && left > where->fixed;
        const char *type = hex ? "simpkvHexId" : left == where->count ? leaf : "ou";
        if (put_rdn(reply, type, previous_name(where->path.bytes, &end), hex) != SKV_OK)
            break;
    }
    return reply->status;
}

/* Writes the RDNs of the path. */
static skv_status put_path(int layout, int kind, text path, skv_reply *reply)
{
    place where = {0};

    if (locate_path(path, kind, reply, &where) != SKV_OK)
        return reply->status;
    return put_names(reply, layout, &where, kind == SKV_KIND_KEY ? "simpkvKey" : "ou");
}

/* Appends the last RDNs of a DN, which are escaped already. */
static skv_status put_end(text path, text end, skv_reply *reply)
{
    skv_buf_put(&reply->data, end.bytes, end.len);
    if (reply->data.len > DN_MAX)
        return skv_fail(reply, SKV_TOO_LARGE,
                        "'%s' is too long for a directory: its DN would have %zu bytes, %d are allowed",
                        skv_quoted(path.bytes, path.len).text, reply->data.len, DN_MAX);
    return skv_reply_done(reply);
}

skv_status skv_dn_from_path(int layout, int kind, const char *base_dn, size_t base_dn_len, const char *id,
                            size_t id_len, const char *path, size_t path_len, skv_reply *reply)
{
    place instance = {0};

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (check_common(layout, (text){base_dn, base_dn_len}, (text){id, id_len}, reply, &instance) != SKV_OK)
        return reply->status;
    if (!path || (kind != SKV_KIND_KEY && kind != SKV_KIND_FOLDER))
        return skv_fail(reply, SKV_INVALID, "the path is NULL, or kind %d is unknown", kind);
    if (put_path(layout, kind, (text){path, path_len}, reply) != SKV_OK ||
        put_names(reply, layout, &instance, "ou") != SKV_OK)
        return reply->status;
    skv_buf_put_string(&reply->data, "ou=instances,");
    return put_end((text){path, path_len}, (text){base_dn, base_dn_len}, reply);
}

skv_status skv_dn_below(int layout, int kind, const char *above, size_t above_len, const char *path, size_t path_len,
                        skv_reply *reply)
{
    skv_reply_reset(reply);
    if (put_path(layout, kind, (text){path, path_len}, reply) != SKV_OK)
        return reply->status;
    return put_end((text){path, path_len}, (text){above, above_len}, reply);
}
