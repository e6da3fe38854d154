#include "ldap/search.h"

#include "ldap/entry.h"

#include <string.h>

/* A server that refuses a page is asked for smaller ones, each a fourth of the former, so many times. */
#define SMALLER_PAGES 4

/* Requests a page. slapd examines all entries of a folder for each page, so the whole folder is requested first, with a
 * limit of one page. */
static skv_ldap_code request_page(skv_ldap_call *call, skv_ldap_search_state *search)
{
    const skv_features *features = skv_conn_features(call->conn);
    int limit = LDAP_NO_LIMIT;
    skv_ldap_code error;
    LDAPControl *control = NULL;

    search->in_pages |= features->is_389ds;
    if (!search->page_size)
        search->page_size = call->store->page_size;
    if (features->paging && search->in_pages) {
        error = ldap_create_page_control(skv_conn_handle(call->conn), search->page_size, &search->cookie, 1, &control);
        if (error != LDAP_SUCCESS)
            return error;
    } else if (features->paging) {
        limit = search->page_size;
    }
    error = skv_ldap_search(call, search->dn, search->scope, search->filter, search->attributes, control, limit,
                            &search->id);
    ldap_control_free(control);
    search->requested = error == LDAP_SUCCESS;
    return error;
}

/* Reads the cookie in the result of a page. An empty one, or none, means that the page was the last. */
static void read_page_cookie(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_response *response)
{
    LDAPControl *control = ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, response->controls, NULL);
    ber_int_t estimate;
    skv_ldap_code error = LDAP_SUCCESS;

    ldap_memfree(search->cookie.bv_val);
    search->cookie = (struct berval){0};
    if (control && !skv_ldap_has_value(control))
        error = LDAP_DECODING_ERROR;
    else if (control)
        error = ldap_parse_pageresponse_control(skv_conn_handle(call->conn), control, &estimate, &search->cookie);
    if (error != LDAP_SUCCESS)
        response->code = error;
    search->last = search->cookie.bv_len == 0;
}

static void free_page(skv_ldap_search_state *search)
{
    ldap_msgfree(search->page);
    search->page = search->next = NULL;
}

/* Wipes a page that has unread entries. */
static void wipe_page(skv_ldap_call *call, skv_ldap_search_state *search)
{
    LDAP *handle = skv_conn_handle(call->conn);
    skv_ldap_entry entry;

    for (LDAPMessage *each = search->page; each; each = ldap_next_message(handle, each))
        if (ldap_msgtype(each) == LDAP_RES_SEARCH_ENTRY && skv_ldap_entry_read(call, each, &entry) == LDAP_SUCCESS)
            skv_ldap_entry_wipe(&entry);
    free_page(search);
}

/* Returns true if the whole was requested: no entry is read before all of them are there, as they may be too many. */
static bool is_whole_request(const skv_ldap_call *call, const skv_ldap_search_state *search)
{
    return skv_conn_features(call->conn)->paging && !search->in_pages;
}

/* The entries may have been deleted meanwhile. But a list must not lack those that are left. */
static void note_partial_results(skv_ldap_call *call, const skv_ldap_search_state *search, skv_ldap_response *response)
{
    if (response->code == LDAP_NO_SUCH_OBJECT &&
        (search->has_entries || ldap_first_entry(skv_conn_handle(call->conn), search->page)))
        response->code = LDAP_PARTIAL_RESULTS;
}

/* Ends a page, and requests the next one, which the server prepares while the caller reads this one. */
static skv_ldap_code finish_page(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_response *response)
{
    search->requested = false;
    response->message = search->page;
    skv_ldap_parse(call, response);
    response->message = NULL;
    read_page_cookie(call, search, response);
    note_partial_results(call, search, response);
    if (response->code != LDAP_SUCCESS) {
        wipe_page(call, search);
        return response->code;
    }
    skv_ldap_response_free(response);
    if (!search->last)
        (void)request_page(call, search); /* A failure shows when the page is received. */
    return LDAP_SUCCESS;
}

/* Receives the next message, or all of them. Returns an LDAP result. */
static skv_ldap_code receive_messages(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_response *response)
{
    bool whole;

    if (!search->requested && (response->code = request_page(call, search)) != LDAP_SUCCESS)
        return response->code;
    whole = is_whole_request(call, search);
    response->code = skv_conn_result(call->conn, search->id, whole ? LDAP_MSG_ALL : LDAP_MSG_ONE, &search->page);
    if (response->code != LDAP_SUCCESS)
        return response->code;
    search->next = search->page;
    return whole || ldap_msgtype(search->page) == LDAP_RES_SEARCH_RESULT ? finish_page(call, search, response)
                                                                         : LDAP_SUCCESS;
}

/* OpenLDAP refuses a page that is larger than its limit `size.pr` with adminLimitExceeded, and so a folder above its
 * limit `size.unchecked`. Asks for smaller pages. The store keeps the size that was taken. */
static skv_ldap_code receive_smaller_pages(skv_ldap_call *call, skv_ldap_search_state *search,
                                           skv_ldap_response *response)
{
    int former = search->page_size;

    for (int i = 0; i < SMALLER_PAGES && search->page_size > 1 && response->code == LDAP_ADMINLIMIT_EXCEEDED; i++) {
        search->page_size = search->page_size / 4 ? search->page_size / 4 : 1;
        skv_ldap_response_free(response);
        receive_messages(call, search, response);
    }
    if (response->code == LDAP_SUCCESS && search->page_size < former)
        call->store->page_size = search->page_size;
    return response->code;
}

/* Receives messages. If the folder has more than a page, or more than the server returns at once, starts again in
 * pages. */
static skv_ldap_code receive_or_page(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_response *response)
{
    skv_ldap_code code = receive_messages(call, search, response);

    if ((code == LDAP_SIZELIMIT_EXCEEDED || code == LDAP_ADMINLIMIT_EXCEEDED) && is_whole_request(call, search)) {
        skv_ldap_response_free(response);
        search->in_pages = true;
        code = receive_messages(call, search, response);
    }
    if (code != LDAP_ADMINLIMIT_EXCEEDED || search->has_entries || skv_conn_features(call->conn)->is_389ds)
        return code;
    return receive_smaller_pages(call, search, response);
}

/* A part of the folder is on another server. */
static skv_ldap_code fail_with_reference(skv_ldap_call *call, LDAPMessage *message, skv_ldap_response *response)
{
    skv_ldap_code error = ldap_parse_reference(skv_conn_handle(call->conn), message, &response->referrals, NULL, 0);

    return response->code = error == LDAP_SUCCESS ? LDAP_REFERRAL : error;
}

skv_ldap_code skv_ldap_search_next(skv_ldap_call *call, skv_ldap_search_state *search, skv_ldap_response *response,
                                   LDAPMessage **entry)
{
    *response = (skv_ldap_response){0};
    *entry = NULL;
    while (!search->over) {
        LDAPMessage *message;

        if (!search->next) {
            free_page(search);
            if (receive_or_page(call, search, response) != LDAP_SUCCESS)
                return response->code;
        }
        message = search->next;
        search->next = ldap_next_message(skv_conn_handle(call->conn), message);
        switch (ldap_msgtype(message)) {
        case LDAP_RES_SEARCH_ENTRY:
            search->has_entries = true;
            *entry = message;
            return LDAP_SUCCESS;
        case LDAP_RES_SEARCH_REFERENCE:
            return fail_with_reference(call, message, response);
        case LDAP_RES_SEARCH_RESULT:
            free_page(search);
            search->over = search->last;
            return LDAP_SUCCESS;
        default: /* A message of another type is ignored. */
            break;
        }
    }
    return LDAP_SUCCESS;
}

void skv_ldap_search_end(skv_ldap_call *call, skv_ldap_search_state *search)
{
    if (call->conn) {
        wipe_page(call, search);
        if (search->requested || search->cookie.bv_len)
            skv_conn_invalidate(call->conn);
    }
    ldap_memfree(search->cookie.bv_val);
    search->cookie = (struct berval){0};
    search->requested = false;
    search->over = true;
}

skv_status skv_ldap_search_failed(skv_ldap_call *call, const skv_ldap_response *response)
{
    bool is_389ds = skv_conn_features(call->conn)->is_389ds;
    const char *limit, *slapd, *ds389;

    switch (response->code) {
    case LDAP_TIMELIMIT_EXCEEDED:
        limit = "time limit (timeLimitExceeded, 3)";
        slapd = "time=unlimited";
        ds389 = "nsTimeLimit";
        break;
    case LDAP_SIZELIMIT_EXCEEDED:
        limit = "size limit (sizeLimitExceeded, 4)";
        slapd = "size=unlimited size.pr=unlimited size.prtotal=unlimited";
        ds389 = "nsSizeLimit and nsPagedSizeLimit";
        break;
    case LDAP_ADMINLIMIT_EXCEEDED:
        limit =
            is_389ds ? "look-through limit (adminLimitExceeded, 11)" : "administrative limit (adminLimitExceeded, 11)";
        slapd = "size.unchecked=unlimited size.pr=unlimited size.prtotal=unlimited";
        ds389 = "nsLookThroughLimit and nsPagedLookThroughLimit";
        break;
    case LDAP_PARTIAL_RESULTS:
        return skv_ldap_refuse(
            call, SKV_UNAVAILABLE,
            "the server sent some of its entries, and then answered that it does not exist "
            "(noSuchObject, 32): it has been deleted meanwhile, or the server is at fault; try again");
    default:
        return skv_ldap_fail(call, response);
    }
    return skv_fail(call->reply, SKV_TOO_LARGE,
                    "%s '%s'%s: %s stopped at its %s for '%s'%s. Lift it for that identity: on slapd with 'limits "
                    "dn.exact=\"%s\" %s' (schema/openldap/limits.conf), on 389-DS with the attributes %s of its entry "
                    "(schema/389ds/limits.ldif)",
                    call->what, call->name, call->failed, skv_ldap_server(call), limit, call->store->identity,
                    skv_ldap_text_of(response).text, call->store->identity, slapd, ds389);
}
