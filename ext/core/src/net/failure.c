#include "net/failure.h"

skv_conn_failure skv_failure_of(skv_status status)
{
    return status == SKV_INTERRUPTED || status == SKV_NOMEM ? SKV_CONN_STOPPED : SKV_CONN_UNREACHABLE;
}

skv_status skv_fail_wait(skv_reply *reply, skv_status status, const skv_uri *uri, const char *doing)
{
    switch (status) {
    case SKV_TIMEOUT:
        return skv_fail(reply, status, "%s: timed out while %s", uri->text, doing);
    case SKV_INTERRUPTED:
        return skv_fail(reply, status, "%s: interrupted while %s", uri->text, doing);
    case SKV_NOMEM:
        return skv_fail_memory(reply);
    default:
        return skv_fail(reply, status, "%s: the server closed the connection while %s", uri->text, doing);
    }
}

skv_conn_failure skv_fail_lost(skv_reply *reply, const skv_transport *transport, const skv_uri *uri, const char *doing)
{
    skv_status status = skv_transport_failure(transport);

    skv_fail_wait(reply, status == SKV_OK ? SKV_UNAVAILABLE : status, uri, doing);
    return skv_failure_of(status);
}
