/* json/double.h - what reading and writing doubles share. skv_format_double() itself is public, in simpkv.h. */
#ifndef SKV_JSON_DOUBLE_H
#define SKV_JSON_DOUBLE_H

/* The powers of ten that are exact as doubles, from 10^0 on. */
#define SKV_EXACT_POWERS 23

extern const double skv_power_of_ten[SKV_EXACT_POWERS];

#endif
