#include "base/reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

skv_reply *skv_reply_new(void)
{
    skv_reply *reply = skv_alloc(sizeof *reply);

    if (!reply)
        return NULL;
    skv_buf_init(&reply->data, SKV_DATA_MAX);
    skv_reply_reset(reply);
    return reply;
}

void skv_reply_free(skv_reply *reply)
{
    if (!reply)
        return;
    skv_buf_free(&reply->data);
    skv_free(reply);
}

skv_status skv_reply_status(const skv_reply *reply)
{
    return reply->status;
}

const char *skv_reply_message(const skv_reply *reply)
{
    return reply->message;
}

const char *skv_reply_fault(const skv_reply *reply)
{
    static const char *const texts[] = {
#define SKV_FAULT_TEXT(name, text) [SKV_FAULT_##name] = (text),
        SKV_FAULT_MAP(SKV_FAULT_TEXT)
#undef SKV_FAULT_TEXT
    };

    return texts[reply->fault];
}

const char *skv_reply_data(const skv_reply *reply)
{
    return reply->data.bytes ? reply->data.bytes : "";
}

size_t skv_reply_size(const skv_reply *reply)
{
    return reply->data.len;
}

int64_t skv_reply_number(const skv_reply *reply)
{
    return reply->number;
}

void skv_reply_reset(skv_reply *reply)
{
    skv_buf_clear(&reply->data);
    reply->status = SKV_OK;
    reply->fault = SKV_FAULT_NONE;
    reply->number = 0;
    reply->message[0] = '\0';
}

skv_status skv_reply_begin(skv_reply *reply)
{
    if (!reply)
        return SKV_INVALID;
    skv_reply_reset(reply);
    return SKV_OK;
}

/* Returns the length of the UTF-8 sequence at `p`, of which `left` bytes follow; 0 if there is none. */
static size_t utf8_sequence_len(const unsigned char *p, size_t left)
{
    static const unsigned char second_min[] = {[0xE0] = 0xA0, [0xF0] = 0x90};
    static const unsigned char second_max[] = {[0xED] = 0x9F, [0xF4] = 0x8F};
    unsigned char min = 0x80, max = 0xBF;
    size_t len;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    len = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (left < len)
        return 0;
    if (p[0] < sizeof second_min && second_min[p[0]])
        min = second_min[p[0]];
    if (p[0] < sizeof second_max && second_max[p[0]])
        max = second_max[p[0]];
    if (p[1] < min || p[1] > max)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return len;
}

/* Returns true if the next eight bytes are ASCII: most documents have little else. */
static bool are_eight_ascii(const unsigned char *p)
{
    uint64_t eight;

    memcpy(&eight, p, sizeof eight);
    return (eight & UINT64_C(0x8080808080808080)) == 0;
}

bool skv_is_utf8(const char *bytes, size_t len)
{
    const unsigned char *p = (const unsigned char *)bytes;

    for (size_t i = 0; i < len;) {
        size_t n = len - i >= 8 && are_eight_ascii(p + i) ? 8 : utf8_sequence_len(p + i, len - i);

        if (!n)
            return false;
        i += n;
    }
    return true;
}

static void make_printable(char *text)
{
    unsigned char *p = (unsigned char *)text;
    size_t len = strlen(text);

    for (size_t i = 0; i < len;) {
        size_t n = utf8_sequence_len(p + i, len - i);
        if (n == 0 || p[i] < 0x20 || p[i] == 0x7F)
            p[i] = '?';
        i += n ? n : 1;
    }
}

static skv_status fail_with_args(skv_reply *reply, skv_status status, int error_number, const char *format,
                                 va_list args)
{
    int used;

    if (reply->status > SKV_END)
        return reply->status;
    reply->status = status;
    reply->fault = error_number == EROFS ? SKV_FAULT_READ_ONLY : SKV_FAULT_NONE;
    reply->number = 0;
    skv_buf_free(&reply->data);
    used = vsnprintf(reply->message, sizeof reply->message, format, args);
    if (error_number && used >= 0 && (size_t)used < sizeof reply->message) {
        errno = error_number;
        snprintf(reply->message + used, sizeof reply->message - (size_t)used, ": %m");
    }
    make_printable(reply->message);
    return status;
}

skv_status skv_fail(skv_reply *reply, skv_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    status = fail_with_args(reply, status, 0, format, args);
    va_end(args);
    return status;
}

static skv_status status_of_errno(int error_number)
{
    switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS:
        return SKV_DENIED;
    case ENAMETOOLONG:
    case EFBIG:
        return SKV_TOO_LARGE;
    case ENOMEM:
        return SKV_NOMEM;
    case ENOSPC:
    case EDQUOT:
        return SKV_FULL;
    default:
        return SKV_UNAVAILABLE;
    }
}

skv_status skv_fail_errno(skv_reply *reply, int error_number, const char *format, ...)
{
    va_list args;
    skv_status status;

    va_start(args, format);
    status = fail_with_args(reply, status_of_errno(error_number), error_number, format, args);
    va_end(args);
    return status;
}

skv_status skv_reply_set_fault(skv_reply *reply, skv_fault fault)
{
    if (reply->status > SKV_END && !reply->fault)
        reply->fault = fault;
    return reply->status;
}

skv_status skv_reply_append(skv_reply *reply, const char *format, ...)
{
    size_t used = strlen(reply->message);
    va_list args;

    va_start(args, format);
    vsnprintf(reply->message + used, sizeof reply->message - used, format, args);
    va_end(args);
    return reply->status;
}

skv_status skv_fail_memory(skv_reply *reply)
{
    return skv_fail(reply, SKV_NOMEM, "out of memory");
}

skv_status skv_reply_done(skv_reply *reply)
{
    if (reply->data.too_large)
        return skv_fail(reply, SKV_TOO_LARGE, "the answer is above %zu bytes", reply->data.max);
    if (reply->data.no_memory)
        return skv_fail_memory(reply);
    return reply->status;
}
