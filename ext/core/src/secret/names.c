#include "secret/names.h"

#include "base/ascii.h"
#include "secret/keypair.h"
#include "json/tree.h"

#include <arpa/inet.h>
#include <string.h>

/* The parts of a subject in the order in which certificates have them, and their sizes: X.520, annex C. */
static const struct {
    const char *name;
    int nid;
    size_t max;
} subject_parts[] = {
    {"C", NID_countryName, 2},       {"ST", NID_stateOrProvinceName, 128},   {"L", NID_localityName, 128},
    {"O", NID_organizationName, 64}, {"OU", NID_organizationalUnitName, 64}, {"CN", NID_commonName, 64},
};

static bool is_country(const char *text)
{
    return text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'A' && text[1] <= 'Z' && !text[2];
}

static void read_part(skv_request *request, size_t i, X509_NAME *subject)
{
    int nid = subject_parts[i].nid;
    const char *text = skv_request_line(request, subject_parts[i].name, NULL, subject_parts[i].max);

    if (!text && nid != NID_commonName)
        return;
    if (!text || !*text)
        skv_request_refuse(request, subject_parts[i].name, "a name");
    else if (nid == NID_countryName && !is_country(text))
        skv_request_refuse(request, subject_parts[i].name, "the two capital letters of a country");
    else if (X509_NAME_add_entry_by_NID(subject, nid, MBSTRING_UTF8, (const unsigned char *)text, -1, -1, 0) != 1)
        skv_fail_openssl("write the subject of a certificate", request->reply);
}

X509_NAME *skv_names_subject(skv_request *request)
{
    json_t *object = skv_request_object(request, "subject");
    X509_NAME *subject = X509_NAME_new();
    skv_request inner;

    if (!object)
        skv_request_refuse(request, "subject", "a Hash with 'CN'");
    else if (!subject)
        skv_fail_openssl("write the subject of a certificate", request->reply);
    if (skv_request_open_member(&inner, object, "subject.", "option 'subject'", request->reply))
        for (size_t i = 0; i < sizeof subject_parts / sizeof *subject_parts; i++)
            read_part(&inner, i, subject);
    if (skv_request_done(&inner)) {
        skv_request_close(&inner);
        return subject;
    }
    skv_request_close(&inner);
    X509_NAME_free(subject);
    return NULL;
}

static bool is_label_letter(char c)
{
    c = skv_ascii_lower(c);
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* Returns the length of a label, which begins and ends with a letter or a digit: RFC 1123, section 2.1, and the
 * underscore that names of Windows and of services have. Returns 0 if there is none. */
static size_t label_length(const char *text)
{
    size_t len = 0;

    while (is_label_letter(text[len]) || skv_ascii_is_digit(text[len]) || text[len] == '-')
        len++;
    return len > 63 || text[0] == '-' || (len && text[len - 1] == '-') ? 0 : len;
}

/* Returns true for the name of a host or, with "*." before it, of the hosts in a domain. An IPv4 address has digits in
 * its last label. */
static bool is_dns_name(const char *text)
{
    const char *label = strncmp(text, "*.", 2) == 0 ? text + 2 : text;
    size_t len = label_length(label);

    if (strlen(text) > 253)
        return false;
    while (len && label[len] == '.') {
        label += len + 1;
        len = label_length(label);
    }
    return len && !label[len] && strspn(label, "0123456789") < len;
}

/* Sets the type of the name, and its bytes: the text, or those of the IP address. Returns their number, 0 for a text
 * that is no name. */
static int parse_alternative(const char *text, int *type, unsigned char bytes[256])
{
    *type = GEN_IPADD;
    if (inet_pton(AF_INET, text, bytes) == 1)
        return 4;
    if (inet_pton(AF_INET6, text, bytes) == 1)
        return 16;
    *type = GEN_DNS;
    if (!is_dns_name(text))
        return 0;
    memcpy(bytes, text, strlen(text));
    return (int)strlen(text);
}

static bool has_name(GENERAL_NAMES *names, GENERAL_NAME *name)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++)
        if (GENERAL_NAME_cmp(sk_GENERAL_NAME_value(names, i), name) == 0)
            return true;
    return false;
}

/* Adds a name, unless it is among them. Returns false if libcrypto fails. */
static bool add_bytes(GENERAL_NAMES *names, int type, const unsigned char *bytes, int len)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = ASN1_STRING_type_new(type == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING);
    bool known;

    if (!name || !value || ASN1_STRING_set(value, bytes, len) != 1) {
        ASN1_STRING_free(value);
        GENERAL_NAME_free(name);
        return false;
    }
    GENERAL_NAME_set0_value(name, type, value);
    known = has_name(names, name);
    if (!known && sk_GENERAL_NAME_push(names, name) > 0)
        return true;
    GENERAL_NAME_free(name);
    return known;
}

/* Returns false for a text that is no name. */
static bool add_name(GENERAL_NAMES *names, const char *text, skv_reply *reply)
{
    unsigned char bytes[256];
    int type, len = parse_alternative(text, &type, bytes);

    if (len && !add_bytes(names, type, bytes, len))
        skv_fail_openssl("write the names of a certificate", reply);
    return len;
}

GENERAL_NAMES *skv_names_alternative(skv_request *request)
{
    skv_json_walk walk = {.container = skv_request_array(request, "names")};
    GENERAL_NAMES *names = GENERAL_NAMES_new();

    if (!names)
        skv_fail_openssl("write the names of a certificate", request->reply);
    while (request->reply->status == SKV_OK && skv_json_next(&walk)) {
        const char *text = json_string_value(walk.value);

        if (!text || !add_name(names, text, request->reply))
            skv_request_refuse(request, "names", "an Array of DNS names and IP addresses");
    }
    if (request->reply->status == SKV_OK)
        return names;
    GENERAL_NAMES_free(names);
    return NULL;
}

void skv_names_add_common(GENERAL_NAMES *names, X509_NAME *subject, skv_reply *reply)
{
    X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, X509_NAME_get_index_by_NID(subject, NID_commonName, -1));
    unsigned char *text = NULL;

    if (ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry)) > 0)
        add_name(names, (const char *)text, reply);
    else
        skv_fail_openssl("read the subject of a certificate", reply);
    OPENSSL_free(text);
}
