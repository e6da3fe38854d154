/* json/locale.h - the locale in which jansson reads and writes numbers. */
#ifndef SKV_JSON_LOCALE_H
#define SKV_JSON_LOCALE_H

#include "base/reply.h"

#include <locale.h>

/* The locale that a thread returns to. */
typedef struct skv_locale {
    locale_t numbers, previous;
} skv_locale;

/* jansson uses the thread's locale, and aborts if its decimal point has several bytes. Sets the C locale for numbers in
 * this thread, until skv_locale_leave(). Returns SKV_OK or SKV_NOMEM; skv_locale_leave() is not called then. */
skv_status skv_locale_enter(skv_locale *locale, skv_reply *reply);
void skv_locale_leave(const skv_locale *locale);

#endif
