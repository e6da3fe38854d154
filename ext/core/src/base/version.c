#include "simpkv.h"

#ifndef SKV_VERSION
#error "the build passes -DSKV_VERSION, from lib/simpkv/version.rb"
#endif

int skv_abi(void)
{
    return SKV_ABI;
}

const char *skv_version(void)
{
    return SKV_VERSION;
}

const char *skv_status_name(int status)
{
    static const char *const names[] = {
#define SKV_STATUS_NAME(number, name, text) [number] = text,
        SKV_STATUS_MAP(SKV_STATUS_NAME)
#undef SKV_STATUS_NAME
    };

    if (status < 0 || (size_t)status >= sizeof names / sizeof *names)
        return NULL;
    return names[status];
}
