/* rules/network.h - IPv4 and IPv6 addresses, and subnets. */
#ifndef SKV_RULES_NETWORK_H
#define SKV_RULES_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

/* Without pointers: it is copied by assignment. */
typedef struct skv_network {
    unsigned char bytes[16]; /* of the address; 4 for IPv4 */
    unsigned size;           /* of the address in bytes: 4 or 16 */
    unsigned bits;           /* of the prefix; 8 * size for one address */
} skv_network;

/* Reads an address, such as "10.0.0.1" or "2001:db8::1". Returns false for any other text, also for one with a prefix
 * length, a zone or spaces. */
bool skv_network_parse_address(const char *text, size_t len, skv_network *out);

/* Reads a subnet, such as "10.0.0.0/8", or an address, which is a subnet of one host. Bits behind the prefix may be
 * set. IPv4 also has netmasks: "10.0.0.0/255.0.0.0". Returns false for any other text. */
bool skv_network_parse(const char *text, size_t len, skv_network *out);

/* Returns true if the address is in the subnet. An address of the other family is not, nor is an IPv4-mapped IPv6
 * address in an IPv4 subnet. */
bool skv_network_contains(const skv_network *network, const skv_network *address);

#endif
