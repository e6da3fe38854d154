#include "ldap/sync.h"

#include <lber.h>
#include <string.h>

#define UUID_LEN 16

/* ---- Requests ---- */

/* Takes over the encoded value. */
static skv_ldap_code create_control(const char *oid, BerElement *ber, int encoded, LDAPControl **control)
{
    struct berval value;
    skv_ldap_code error = LDAP_ENCODING_ERROR;

    if (encoded >= 0 && ber_flatten2(ber, &value, 0) == 0)
        error = ldap_control_create(oid, 1, &value, 1, control);
    ber_free(ber, 1);
    return error;
}

skv_ldap_code skv_sync_control(LDAPControl **control)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);

    *control = NULL;
    if (!ber)
        return LDAP_NO_MEMORY;
    return create_control(LDAP_CONTROL_SYNC, ber, ber_printf(ber, "{e}", LDAP_SYNC_REFRESH_AND_PERSIST), control);
}

skv_ldap_code skv_persistent_search_control(LDAPControl **control)
{
    const ber_int_t changes = LDAP_CONTROL_PERSIST_ENTRY_CHANGE_ADD | LDAP_CONTROL_PERSIST_ENTRY_CHANGE_DELETE |
                              LDAP_CONTROL_PERSIST_ENTRY_CHANGE_MODIFY | LDAP_CONTROL_PERSIST_ENTRY_CHANGE_RENAME;
    BerElement *ber = ber_alloc_t(LBER_USE_DER);

    *control = NULL;
    if (!ber)
        return LDAP_NO_MEMORY;
    return create_control(LDAP_CONTROL_PERSIST_REQUEST, ber, ber_printf(ber, "{ibb}", changes, 1, 1), control);
}

/* ---- Responses ---- */

/* Returns a copy of the value to read; NULL if there is none: liblber follows NULL in an empty one. */
static BerElement *start_reading(const struct berval *value)
{
    struct berval copy;

    if (!value || !value->bv_val || !value->bv_len)
        return NULL;
    copy = *value;
    return ber_init(&copy);
}

static const struct berval *control_value(LDAPControl **controls, const char *oid)
{
    const LDAPControl *control = ldap_control_find(oid, controls, NULL);

    return control ? &control->ldctl_value : NULL;
}

/* Reads the next element if it has that tag: an OCTET STRING. */
static bool read_optional(BerElement *ber, ber_tag_t tag, skv_sync_cookie *cookie)
{
    struct berval text;
    ber_len_t len;

    if (ber_peek_tag(ber, &len) != tag)
        return true;
    if (ber_scanf(ber, "m", &text) == LBER_ERROR)
        return false;
    cookie->len = text.bv_len < sizeof cookie->text ? text.bv_len : 0;
    memcpy(cookie->text, text.bv_val, cookie->len);
    cookie->is_given = true;
    return true;
}

static bool read_state(BerElement *ber, skv_sync_change *change, skv_sync_cookie *cookie)
{
    static const skv_sync_change changes[] = {[LDAP_SYNC_PRESENT] = SKV_SYNC_SEEN,
                                              [LDAP_SYNC_ADD] = SKV_SYNC_ADDED,
                                              [LDAP_SYNC_MODIFY] = SKV_SYNC_CHANGED,
                                              [LDAP_SYNC_DELETE] = SKV_SYNC_DELETED};
    struct berval uuid;
    ber_int_t state;

    if (ber_scanf(ber, "{em", &state, &uuid) == LBER_ERROR || uuid.bv_len != UUID_LEN || state < LDAP_SYNC_PRESENT ||
        state > LDAP_SYNC_DELETE)
        return false;
    *change = changes[state];
    return read_optional(ber, LDAP_TAG_SYNC_COOKIE, cookie);
}

bool skv_sync_read_state(LDAPControl **controls, skv_sync_change *change, skv_sync_cookie *cookie)
{
    BerElement *ber = start_reading(control_value(controls, LDAP_CONTROL_SYNC_STATE));
    bool is_read;

    cookie->is_given = false;
    is_read = ber && read_state(ber, change, cookie);
    ber_free(ber, 1);
    return is_read;
}

static bool change_of_type(ber_int_t type, skv_sync_change *change)
{
    switch (type) {
    case LDAP_CONTROL_PERSIST_ENTRY_CHANGE_ADD:
        *change = SKV_SYNC_ADDED;
        return true;
    case LDAP_CONTROL_PERSIST_ENTRY_CHANGE_DELETE:
        *change = SKV_SYNC_DELETED;
        return true;
    case LDAP_CONTROL_PERSIST_ENTRY_CHANGE_MODIFY:
        *change = SKV_SYNC_CHANGED;
        return true;
    case LDAP_CONTROL_PERSIST_ENTRY_CHANGE_RENAME:
        *change = SKV_SYNC_RENAMED;
        return true;
    default:
        return false;
    }
}

bool skv_persistent_search_read_change(LDAPControl **controls, skv_sync_change *change)
{
    BerElement *ber = start_reading(control_value(controls, LDAP_CONTROL_PERSIST_ENTRY_CHANGE_NOTICE));
    ber_int_t type = 0;
    bool is_read = ber && ber_scanf(ber, "{e", &type) != LBER_ERROR && change_of_type(type, change);

    ber_free(ber, 1);
    return is_read;
}

/* Reads the end of a phase: an optional cookie, and whether the refresh is over, which is the default. */
static bool read_phase(BerElement *ber, skv_sync_info *info)
{
    ber_int_t done = 1;
    ber_len_t len;

    if (ber_scanf(ber, "{") == LBER_ERROR || !read_optional(ber, LDAP_TAG_SYNC_COOKIE, &info->cookie))
        return false;
    if (ber_peek_tag(ber, &len) == LBER_BOOLEAN && ber_scanf(ber, "b", &done) == LBER_ERROR)
        return false;
    info->is_refreshed = done != 0;
    return true;
}

static bool read_info(BerElement *ber, skv_sync_info *info)
{
    ber_len_t len;

    switch (ber_peek_tag(ber, &len)) {
    case LDAP_TAG_SYNC_NEW_COOKIE:
        return read_optional(ber, LDAP_TAG_SYNC_NEW_COOKIE, &info->cookie);
    case LDAP_TAG_SYNC_REFRESH_DELETE:
    case LDAP_TAG_SYNC_REFRESH_PRESENT:
        return read_phase(ber, info);
    case LDAP_TAG_SYNC_ID_SET:
        info->has_ids = true;
        return ber_scanf(ber, "{") != LBER_ERROR && read_optional(ber, LDAP_TAG_SYNC_COOKIE, &info->cookie);
    default:
        return false;
    }
}

bool skv_sync_read_info(const struct berval *value, skv_sync_info *info)
{
    BerElement *ber = start_reading(value);
    bool is_read;

    info->cookie.is_given = info->is_refreshed = info->has_ids = false;
    is_read = ber && read_info(ber, info);
    ber_free(ber, 1);
    return is_read;
}

bool skv_sync_find_csns(const skv_sync_cookie *cookie, const char **csns, size_t *len)
{
    static const char name[] = "csn=";
    const char *text = memmem(cookie->text, cookie->len, name, strlen(name)), *end;

    if (!text)
        return false;
    *csns = text + strlen(name);
    *len = (size_t)(cookie->text + cookie->len - *csns);
    end = memchr(*csns, ',', *len);
    if (end)
        *len = (size_t)(end - *csns);
    return true;
}
