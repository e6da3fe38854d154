/*
 * 389-DS has no assertion control. "Delete the old value, add the new one" is atomic there, but the server compares the
 * old value by caseExactMatch, which takes a run of spaces for one space. The pre-read control therefore returns the
 * document that was replaced. If that is not the expected one, it is put back; until then, other clients read the new
 * document. A delete works in the same way; until then, other clients find no key.
 */
#include "ldap/compare_and_swap.h"

#include <string.h>

#define DOCUMENT SKV_LDAP_TEXT("simpkvJsonValue")

/* The least time for putting a document back. */
#define PUT_BACK_MS 5000

/* Creates the control that returns the document before the change. Returns LDAP_SUCCESS, or libldap's error. */
static skv_ldap_code create_pre_read_control(LDAPControl **control)
{
    char *attributes[] = {DOCUMENT, NULL};
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    struct berval value;
    skv_ldap_code error = LDAP_NO_MEMORY;

    if (ber && ber_printf(ber, "{v}", attributes) != -1 && ber_flatten2(ber, &value, 0) == 0)
        error = ldap_control_create(LDAP_CONTROL_PRE_READ, 1, &value, 1, control);
    ber_free(ber, 1);
    return error;
}

/* Returns the values that the control returned, to be freed with skv_ldap_free_values(); NULL without any. */
static struct berval **read_pre_read_values(const skv_ldap_response *response)
{
    LDAPControl *control = ldap_control_find(LDAP_CONTROL_PRE_READ, response->controls, NULL);
    BerElement *ber = control && skv_ldap_has_value(control) ? ber_init(&control->ldctl_value) : NULL;
    struct berval dn, type, **values = NULL;

    /* An entry: its DN, and a sequence of attributes, each with its type and a set of values. */
    if (ber && ber_scanf(ber, "{m{{m[V]", &dn, &type, &values) == LBER_ERROR)
        values = NULL;
    ber_free(ber, 1);
    return values;
}

void skv_ldap_free_values(struct berval **values)
{
    for (size_t i = 0; values && values[i]; i++)
        explicit_bzero(values[i]->bv_val, values[i]->bv_len);
    ber_bvecfree(values);
}

skv_ldap_code skv_ldap_start_swap(skv_ldap_call *call, const char *dn, struct berval *old, struct berval *new,
                                  bool exact, int *id)
{
    struct berval *olds[] = {old, NULL}, *news[] = {new, NULL};
    LDAPMod mods[] = {
        {LDAP_MOD_DELETE | LDAP_MOD_BVALUES, DOCUMENT, {.modv_bvals = olds}},
        {LDAP_MOD_ADD | LDAP_MOD_BVALUES, DOCUMENT, {.modv_bvals = news}},
    };
    LDAPMod *list[] = {&mods[0], &mods[1], NULL};
    LDAPControl *controls[] = {NULL, NULL};
    skv_ldap_code error = LDAP_SUCCESS;

    if (exact && skv_conn_features(call->conn)->pre_read)
        error = create_pre_read_control(&controls[0]);
    if (error == LDAP_SUCCESS)
        error = ldap_modify_ext(skv_conn_handle(call->conn), dn, list, controls, NULL, id);
    ldap_control_free(controls[0]);
    return error;
}

static skv_ldap_code swap_values(skv_ldap_call *call, const char *dn, struct berval *old, struct berval *new,
                                 bool exact, skv_ldap_response *response)
{
    skv_ldap_code error = skv_ldap_start(call);
    int id = 0;

    if (error == LDAP_SUCCESS)
        error = skv_ldap_start_swap(call, dn, old, new, exact, &id);
    return skv_ldap_finish_change(call, error, id, response);
}

skv_deadline skv_ldap_put_back_deadline(const skv_ldap_call *call)
{
    int64_t least_ns = skv_now_plus_ns(skv_ms_to_ns(PUT_BACK_MS)), end_ns = call->deadline->end_ns;

    return (skv_deadline){.end_ns = end_ns > least_ns ? end_ns : least_ns};
}

/* Puts back the document that was replaced by mistake, unless another client has changed the key since. */
static skv_status restore_document(skv_ldap_call *call, const char *dn, struct berval *new, struct berval *other,
                                   skv_ldap_response *response)
{
    skv_deadline *callers = call->deadline, deadline = skv_ldap_put_back_deadline(call);
    int64_t round_trip_ns = call->round_trip_ns;

    skv_ldap_response_free(response);
    call->deadline = &deadline;
    call->round_trip_ns = 0;
    if (swap_values(call, dn, new, other, false, response) == LDAP_SUCCESS)
        response->code = LDAP_NO_SUCH_ATTRIBUTE;
    call->deadline = callers;
    call->round_trip_ns = round_trip_ns;
    skv_conn_begin(call->conn, skv_ldap_round_trip(call));
    if (response->code == LDAP_NO_SUCH_ATTRIBUTE || response->code == LDAP_NO_SUCH_OBJECT)
        return SKV_OK;
    return skv_ldap_refuse(call, SKV_UNAVAILABLE,
                           "another document was replaced, which 389-DS takes for equal to the expected one, and "
                           "could not be put back");
}

skv_status skv_ldap_finish_swap(skv_ldap_call *call, const char *dn, struct berval *old, struct berval *new,
                                skv_ldap_response *response)
{
    struct berval **replaced = response->code == LDAP_SUCCESS ? read_pre_read_values(response) : NULL;
    skv_status status = SKV_OK;

    if (replaced && replaced[0] && ber_bvcmp(replaced[0], old) != 0)
        status = restore_document(call, dn, new, replaced[0], response);
    skv_ldap_free_values(replaced);
    return status;
}

skv_status skv_ldap_compare_and_swap(skv_ldap_call *call, const char *dn, struct berval *old, struct berval *new,
                                     bool exact, skv_ldap_response *response)
{
    swap_values(call, dn, old, new, exact, response);
    return skv_ldap_finish_swap(call, dn, old, new, response);
}

/* ---- Deleting ---- */

static skv_ldap_code delete_and_read(skv_ldap_call *call, skv_ldap_response *response)
{
    LDAPControl *controls[] = {NULL, NULL};
    skv_ldap_code error = skv_ldap_start(call);
    int id = 0;

    if (error == LDAP_SUCCESS)
        error = create_pre_read_control(&controls[0]);
    if (error == LDAP_SUCCESS)
        error = ldap_delete_ext(skv_conn_handle(call->conn), call->dn, controls, NULL, &id);
    ldap_control_free(controls[0]);
    return skv_ldap_finish_change(call, error, id, response);
}

skv_ldap_code skv_ldap_delete_and_compare(skv_ldap_call *call, const struct berval *old, struct berval ***taken,
                                          skv_ldap_response *response)
{
    struct berval **deleted = delete_and_read(call, response) == LDAP_SUCCESS ? read_pre_read_values(response) : NULL;

    if (deleted && deleted[0] && ber_bvcmp(deleted[0], old) != 0)
        *taken = deleted;
    else
        skv_ldap_free_values(deleted);
    return response->code;
}
