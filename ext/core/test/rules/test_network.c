/* Addresses and subnets. */
#include "rules/network.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

/* Reads a block of exactly that size, so that AddressSanitizer sees a read beyond its end. */
static bool parse_exactly(bool (*parse)(const char *, size_t, skv_network *), const char *text, size_t len,
                          skv_network *out)
{
    char *exact = malloc(len ? len : 1);
    bool parsed;

    memcpy(exact, text, len);
    parsed = parse(exact, len, out);
    free(exact);
    return parsed;
}

static void addresses_are_in_subnets_of_their_family(void)
{
    static const struct {
        const char *subnet, *address;
        bool in;
    } cases[] = {{"10.0.0.0/8", "10.0.0.1", true},
                 {"10.0.0.0/8", "10.255.255.255", true},
                 {"10.0.0.0/8", "11.0.0.0", false},
                 {"10.1.2.3/8", "10.9.9.9", true},
                 {"10.0.0.0/9", "10.127.255.255", true},
                 {"10.0.0.0/9", "10.128.0.0", false},
                 {"10.128.0.0/9", "10.128.0.0", true},
                 {"192.168.1.0/31", "192.168.1.1", true},
                 {"192.168.1.0/31", "192.168.1.2", false},
                 {"192.168.1.1/32", "192.168.1.1", true},
                 {"192.168.1.1/32", "192.168.1.0", false},
                 {"192.168.1.1", "192.168.1.1", true},
                 {"192.168.1.1", "192.168.1.2", false},
                 {"0.0.0.0/0", "255.255.255.255", true},
                 {"0.0.0.0/0", "::1", false},
                 {"::/0", "::1", true},
                 {"::/0", "2001:db8::1", true},
                 {"::/0", "10.0.0.1", false},
                 {"2001:db8::/32", "2001:db8:ffff::1", true},
                 {"2001:db8::/32", "2001:db9::", false},
                 {"2001:DB8::/32", "2001:db8::A", true},
                 {"2001:db8::/33", "2001:db8:8000::", false},
                 {"2001:db8::/127", "2001:db8::1", true},
                 {"2001:db8::/127", "2001:db8::2", false},
                 {"2001:db8::1/128", "2001:db8::1", true},
                 {"2001:db8::1", "2001:0db8:0:0::0001", true},
                 {"2001:db8::1", "2001:db8::2", false},
                 {"fe80::/10", "fe80::1", true},
                 {"10.0.0.0/8", "::ffff:10.0.0.1", false},
                 {"::ffff:0:0/96", "::ffff:10.0.0.1", true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skv_network subnet, address;
        bool held =
            CHECK(parse_exactly(skv_network_parse, cases[i].subnet, strlen(cases[i].subnet), &subnet)) &&
            CHECK(parse_exactly(skv_network_parse_address, cases[i].address, strlen(cases[i].address), &address)) &&
            CHECK(skv_network_contains(&subnet, &address) == cases[i].in);

        if (!held)
            printf("  %s in %s\n", cases[i].address, cases[i].subnet);
    }
}

static void other_texts_are_no_addresses_and_no_subnets(void)
{
    static const char *const cases[] = {"",
                                        " ",
                                        "/",
                                        "/8",
                                        "10",
                                        "10.0.0",
                                        "10.0.0.256",
                                        "10.0.0.1.1",
                                        "010.0.0.1",
                                        "10.0.0.1 ",
                                        " 10.0.0.1",
                                        "10.0.0.-1",
                                        "0x0a.0.0.1",
                                        "167772161",
                                        ":",
                                        "1:2:3",
                                        "1::2::3",
                                        "1:2:3:4:5:6:7:8:9",
                                        "::g",
                                        "fe80::1%eth0",
                                        "[::1]",
                                        "10.0.0.0/33",
                                        "10.0.0.0/-1",
                                        "10.0.0.0/+8",
                                        "10.0.0.0/08",
                                        "10.0.0.0/8 ",
                                        "10.0.0.0/",
                                        "10.0.0.0/8/8",
                                        "10.0.0.0/255.0.255.0",
                                        "::/129",
                                        "::/1000",
                                        "::/999999999999",
                                        "server.example.com",
                                        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd"};
    skv_network network;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool held = CHECK(!parse_exactly(skv_network_parse, cases[i], strlen(cases[i]), &network));

        if (!CHECK(!parse_exactly(skv_network_parse_address, cases[i], strlen(cases[i]), &network)) || !held)
            printf("  %s\n", cases[i]);
    }
    CHECK(!skv_network_parse_address("10.0.0.0/8", 10, &network));
    CHECK(!skv_network_parse_address("10.0.0.1\0", 9, &network));
    CHECK(!skv_network_parse("10.0.0.1\0/8", 11, &network));
    CHECK(!skv_network_parse("10.0.0.0/8\0", 11, &network));
    CHECK(!skv_network_parse_address(NULL, 0, &network));
    CHECK(!skv_network_parse(NULL, 0, &network));
}

int main(void)
{
    addresses_are_in_subnets_of_their_family();
    other_texts_are_no_addresses_and_no_subnets();
    return check_summary("network");
}
