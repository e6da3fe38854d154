/* The forms of any bytes. */
#include "base/base64.h"
#include "base/hex.h"
#include "secret/form.h"

skv_status skv_form_plain(const skv_making *making, skv_reply *reply)
{
    skv_buf_put(&reply->data, making->secret, making->len);
    return SKV_OK;
}

skv_status skv_form_base64(const skv_making *making, skv_reply *reply)
{
    skv_base64_put(&reply->data, making->secret, making->len);
    return SKV_OK;
}

skv_status skv_form_hex(const skv_making *making, skv_reply *reply)
{
    skv_hex_put(&reply->data, making->secret, making->len);
    return SKV_OK;
}
