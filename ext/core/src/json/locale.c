#include "json/locale.h"

skv_status skv_locale_enter(skv_locale *locale, skv_reply *reply)
{
    locale->numbers = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!locale->numbers)
        return skv_fail_memory(reply);
    locale->previous = uselocale(locale->numbers);
    return SKV_OK;
}

void skv_locale_leave(const skv_locale *locale)
{
    uselocale(locale->previous);
    freelocale(locale->numbers);
}
