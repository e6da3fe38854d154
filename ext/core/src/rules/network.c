#include "rules/network.h"

#include "base/ascii.h"

#include <arpa/inet.h>
#include <string.h>

bool skv_network_parse_address(const char *text, size_t len, skv_network *out)
{
    char copy[INET6_ADDRSTRLEN];

    if (len == 0 || len >= sizeof copy || memchr(text, '\0', len))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    *out = (skv_network){.size = memchr(text, ':', len) ? 16 : 4};
    out->bits = 8 * out->size;
    return inet_pton(out->size == 16 ? AF_INET6 : AF_INET, copy, out->bytes) == 1;
}

/* Reads the prefix length: decimal digits without leading zeros, at most `max`. */
static bool read_bits(const char *text, size_t len, unsigned max, unsigned *bits)
{
    unsigned number = 0;

    if (len < 1 || len > 3 || (text[0] == '0' && len > 1))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!skv_ascii_is_digit(text[i]))
            return false;
        number = number * 10 + (unsigned)(text[i] - '0');
    }
    *bits = number;
    return number <= max;
}

/* Reads the prefix length of a netmask, whose set bits come first. */
static bool read_mask(const char *text, size_t len, unsigned *bits)
{
    skv_network mask;
    unsigned set = 0;

    if (!skv_network_parse_address(text, len, &mask) || mask.size != 4)
        return false;
    while (set < mask.bits && mask.bytes[set / 8] & 0x80U >> set % 8)
        set++;
    *bits = set;
    for (unsigned i = set; i < mask.bits; i++)
        if (mask.bytes[i / 8] & 0x80U >> i % 8)
            return false;
    return true;
}

bool skv_network_parse(const char *text, size_t len, skv_network *out)
{
    const char *slash = len ? memchr(text, '/', len) : NULL;
    size_t address_len = slash ? (size_t)(slash - text) : len;

    if (!skv_network_parse_address(text, address_len, out))
        return false;
    if (!slash)
        return true;
    if (out->size == 4 && memchr(slash, '.', len - address_len))
        return read_mask(slash + 1, len - address_len - 1, &out->bits);
    return read_bits(slash + 1, len - address_len - 1, out->bits, &out->bits);
}

bool skv_network_contains(const skv_network *network, const skv_network *address)
{
    unsigned bytes = network->bits / 8, rest = network->bits % 8;

    if (network->size != address->size || memcmp(network->bytes, address->bytes, bytes) != 0)
        return false;
    return rest == 0 || (network->bytes[bytes] ^ address->bytes[bytes]) >> (8 - rest) == 0;
}
