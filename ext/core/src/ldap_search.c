#include "ldap_search.h"

#include <string.h>

/* Asks for a page. */
static int ask(skv_ldap_call *call, skv_ldap_search_state *search)
{
    LDAP *handle = skv_conn_handle(call->conn);
    LDAPControl *control = NULL;
    int error;

    if (skv_conn_features(call->conn)->paging) {
        error = ldap_create_page_control(handle, call->store->page_size, &search->cookie, 1, &control);
        if (error != LDAP_SUCCESS)
            return error;
    }
    error = skv_ldap_search(call, search->dn, search->scope, search->attributes, control, &search->id);
    ldap_control_free(control);
    search->started = error == LDAP_SUCCESS;
    return error;
}

/* Takes the cookie out of a page's result. An empty one, or none, means that it was the last. */
static int turn_page(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_answer *answer)
{
    LDAPControl *control = ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, answer->controls, NULL);
    ber_int_t estimate;
    int error;

    ldap_memfree(search->cookie.bv_val);
    search->cookie = (struct berval){0};
    if (control) {
        error = ldap_parse_pageresponse_control(skv_conn_handle(call->conn), control, &estimate, &search->cookie);
        if (error != LDAP_SUCCESS)
            return answer->code = error;
    }
    search->started = false;
    search->over = search->cookie.bv_len == 0;
    return LDAP_SUCCESS;
}

/* Part of the folder is elsewhere. */
static int take_reference(skv_ldap_call *call, skv_ldap_answer *answer)
{
    int error = ldap_parse_reference(skv_conn_handle(call->conn), answer->message, &answer->referrals, NULL, 0);

    return answer->code = error == LDAP_SUCCESS ? LDAP_REFERRAL : error;
}

/* Ends a page. The server makes the next while its reader is at work on this one. */
static int end_page(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_answer *answer)
{
    if (skv_ldap_parse(call, answer) != LDAP_SUCCESS)
        search->over = true;
    else if (turn_page(call, search, answer) == LDAP_SUCCESS && !search->over)
        answer->code = ask(call, search);
    ldap_msgfree(answer->message);
    answer->message = NULL;
    return answer->code;
}

int skv_ldap_search_next(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_answer *answer)
{
    *answer = (skv_ldap_answer){0};
    if (search->over)
        return LDAP_SUCCESS;
    if (!search->started && (answer->code = ask(call, search)) != LDAP_SUCCESS)
        return answer->code;
    answer->code = skv_conn_result(call->conn, search->id, LDAP_MSG_ONE, &answer->message);
    if (answer->code != LDAP_SUCCESS)
        return answer->code;
    switch (ldap_msgtype(answer->message)) {
    case LDAP_RES_SEARCH_ENTRY:
        return LDAP_SUCCESS;
    case LDAP_RES_SEARCH_REFERENCE:
        return take_reference(call, answer);
    default:
        return end_page(call, search, answer);
    }
}

void skv_ldap_search_end(skv_ldap_call *call, skv_ldap_search_state *search)
{
    if (call->conn && !search->over && (search->started || search->cookie.bv_len))
        skv_conn_spoil(call->conn);
    ldap_memfree(search->cookie.bv_val);
    search->cookie = (struct berval){0};
    search->over = true;
}

int skv_ldap_search_failed(skv_ldap_call *call, const skv_ldap_answer *answer)
{
    const char *limit, *slapd, *ds389;

    switch (answer->code) {
    case LDAP_TIMELIMIT_EXCEEDED:
        limit = "time limit (timeLimitExceeded, 3)";
        slapd = "time=unlimited";
        ds389 = "nsTimeLimit";
        break;
    case LDAP_SIZELIMIT_EXCEEDED:
        limit = "size limit (sizeLimitExceeded, 4)";
        slapd = "size=unlimited size.prtotal=unlimited";
        ds389 = "nsSizeLimit and nsPagedSizeLimit";
        break;
    case LDAP_ADMINLIMIT_EXCEEDED:
        limit = "look-through limit (adminLimitExceeded, 11)";
        slapd = "size.unchecked=unlimited size.prtotal=unlimited";
        ds389 = "nsLookThroughLimit and nsPagedLookThroughLimit";
        break;
    default:
        return skv_ldap_fail(call, answer);
    }
    return skv_fail(call->reply, SKV_TOO_LARGE,
                    "%s '%s'%s: %s stopped at its %s for '%s'. Lift it for that identity: on slapd with 'limits "
                    "dn.exact=\"%s\" %s' (schema/openldap/limits.conf), on 389-DS with the attributes %s of its entry "
                    "(schema/389ds/limits.ldif)",
                    call->what, call->name, call->failed, skv_ldap_server(call), limit, call->store->identity,
                    call->store->identity, slapd, ds389);
}
