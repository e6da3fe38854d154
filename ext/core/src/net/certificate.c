#include "net/certificate.h"

#include <string.h>
#include <time.h>

/* UTCTime has two digits for the year: RFC 5280 puts them between 1950 and 2049. */
static bool read_validity_time(BerElement *ber, char out[15])
{
    struct berval value;
    ber_len_t len;
    ber_tag_t tag = ber_peek_tag(ber, &len);
    size_t digits = tag == 0x17 ? 12 : 14;

    if ((tag != 0x17 && tag != 0x18) || ber_scanf(ber, "m", &value) == LBER_ERROR || value.bv_len < digits)
        return false;
    for (size_t i = 0; i < digits; i++)
        if (value.bv_val[i] < '0' || value.bv_val[i] > '9')
            return false;
    if (tag == 0x17)
        memcpy(out, value.bv_val[0] < '5' ? "20" : "19", 2);
    memcpy(out + 14 - digits, value.bv_val, digits);
    out[14] = '\0';
    return true;
}

bool skv_validity_read(const struct berval *certificate, skv_validity *out)
{
    struct berval copy = *certificate;
    BerElement *ber = copy.bv_len ? ber_init(&copy) : NULL;
    ber_len_t len;
    bool read;

    if (!ber)
        return false;
    /* Certificate { TBSCertificate { [0] version, serial number, signature, issuer, validity {} */
    read = ber_skip_tag(ber, &len) == 0x30 && ber_skip_tag(ber, &len) == 0x30 &&
           (ber_peek_tag(ber, &len) != 0xa0 || ber_scanf(ber, "x") != LBER_ERROR) &&
           ber_scanf(ber, "xxx") != LBER_ERROR && ber_skip_tag(ber, &len) == 0x30 &&
           read_validity_time(ber, out->from) && read_validity_time(ber, out->to);
    ber_free(ber, 1);
    return read;
}

static int parse_digits(const char *digits, int count)
{
    int value = 0;

    for (int i = 0; i < count; i++)
        value = value * 10 + (digits[i] - '0');
    return value;
}

int64_t skv_validity_seconds(const char time[15])
{
    struct tm tm = {.tm_year = parse_digits(time, 4) - 1900,
                    .tm_mon = parse_digits(time + 4, 2) - 1,
                    .tm_mday = parse_digits(time + 6, 2),
                    .tm_hour = parse_digits(time + 8, 2),
                    .tm_min = parse_digits(time + 10, 2),
                    .tm_sec = parse_digits(time + 12, 2)};

    return (int64_t)timegm(&tm);
}
