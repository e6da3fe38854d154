/*
 * Deleting a folder with all that is below it: the DNs below it are enumerated, and deleted from the innermost
 * outwards. No server here has a tree delete. What others delete meanwhile is as well; what they add is found by
 * enumerating again.
 */
#include "ldap_entry.h"
#include "ldap_key.h"
#include "ldap_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often others may add to what is deleted. */
#define ROUNDS_MAX 8

typedef struct tree_call {
    skv_ldap_call call;
    bool keep;    /* the folder itself stays */
    skv_buf dns;  /* each followed by a NUL */
    size_t count; /* of them */
    size_t deleted;
    bool found; /* the folder was there */
} tree_call;

static int add_name(tree_call *tree, skv_ldap_answer *answer)
{
    skv_ldap_entry entry;

    if (skv_ldap_entry_of(&tree->call, answer, &entry) != LDAP_SUCCESS)
        return skv_ldap_fail(&tree->call, answer);
    skv_buf_put(&tree->dns, entry.dn.bv_val, entry.dn.bv_len);
    skv_buf_put_char(&tree->dns, '\0');
    tree->count++;
    if (skv_buf_failed(&tree->dns))
        return tree->dns.no_memory ? skv_fail_memory(tree->call.reply)
                                   : skv_ldap_refuse(&tree->call, SKV_TOO_LARGE, "it holds too many names");
    return SKV_OK;
}

/* Collects the DNs of the folder and all that is below it; none if it is not there. */
static int enumerate(tree_call *tree)
{
    skv_ldap_call *call = &tree->call;
    skv_ldap_search_state search = {.dn = call->dn, .scope = LDAP_SCOPE_SUBTREE, .attributes = skv_ldap_no_attributes};
    skv_ldap_answer answer = {0};
    bool more = true;

    skv_buf_clear(&tree->dns);
    tree->count = 0;
    while (more && call->reply->status == SKV_OK) {
        skv_conn_begin(call->conn, skv_ldap_round_trip(call));
        skv_ldap_search_next(call, &search, &answer);
        more = answer.code == LDAP_SUCCESS && answer.message;
        if (more)
            add_name(tree, &answer);
        else if (answer.code != LDAP_SUCCESS && answer.code != LDAP_NO_SUCH_OBJECT)
            skv_ldap_search_failed(call, &answer);
        skv_ldap_answer_free(&answer);
    }
    skv_ldap_search_end(call, &search);
    return call->reply->status;
}

typedef struct name {
    const char *dn;
    int depth;
} name;

static int innermost_first(const void *a, const void *b)
{
    return ((const name *)b)->depth - ((const name *)a)->depth;
}

static name *sorted(const tree_call *tree)
{
    name *names = skv_alloc_zeroed(tree->count, sizeof *names);
    const char *dn = tree->dns.bytes;

    if (!names)
        return NULL;
    for (size_t i = 0; i < tree->count; i++, dn += strlen(dn) + 1)
        names[i] = (name){dn, skv_dn_depth(dn, strlen(dn))};
    qsort(names, tree->count, sizeof *names, innermost_first);
    return names;
}

/* SKV_OK when it is gone, SKV_LDAP_AGAIN when there is something below it. */
static int delete_one(tree_call *tree, const char *dn)
{
    skv_ldap_call *call = &tree->call;
    skv_ldap_answer answer;
    int status = SKV_OK;

    switch (skv_ldap_delete(call, dn, &answer)) {
    case LDAP_SUCCESS:
        tree->deleted++;
        break;
    case LDAP_NO_SUCH_OBJECT:
        break;
    case LDAP_NOT_ALLOWED_ON_NONLEAF:
        status = SKV_LDAP_AGAIN;
        break;
    default:
        status = skv_ldap_fail(call, &answer);
    }
    skv_ldap_answer_free(&answer);
    return status;
}

/* Deletes what was enumerated. SKV_LDAP_AGAIN when others added to it. */
static int delete_all(tree_call *tree)
{
    int outermost = skv_dn_depth(tree->call.dn, strlen(tree->call.dn)), status = SKV_OK, one;
    name *names = sorted(tree);

    if (!names)
        return skv_fail_memory(tree->call.reply);
    for (size_t i = 0; i < tree->count && status <= SKV_OK; i++) {
        if (tree->keep && names[i].depth == outermost)
            continue;
        one = delete_one(tree, names[i].dn);
        if (one != SKV_OK)
            status = one;
    }
    skv_free(names);
    return status;
}

/* A key in the folder's place: in the hex layout at its DN, in the plain one beside it. */
static int check_kind(tree_call *tree, int *kind)
{
    skv_ldap_call *call = &tree->call;
    bool key = false;

    if (skv_ldap_kind_of(call, call->dn, kind) != SKV_OK)
        return call->reply->status;
    if (*kind == SKV_KIND_NONE && !skv_ldap_is_structure(call->key) &&
        skv_ldap_has_twin(call, call->dn, &key) != SKV_OK)
        return call->reply->status;
    if (key || *kind == SKV_KIND_KEY)
        return skv_ldap_refuse(call, SKV_IS_KEY, "it is a key, not a folder");
    return SKV_OK;
}

static int attempt(skv_ldap_call *call)
{
    tree_call *tree = (tree_call *)call;
    int kind, status = SKV_LDAP_AGAIN;

    if (check_kind(tree, &kind) != SKV_OK)
        return call->reply->status;
    tree->found |= tree->keep || kind == SKV_KIND_FOLDER;
    for (int i = 0; i < ROUNDS_MAX && status == SKV_LDAP_AGAIN && kind == SKV_KIND_FOLDER; i++) {
        status = enumerate(tree);
        if (status == SKV_OK)
            status = delete_all(tree);
    }
    if (status == SKV_LDAP_AGAIN && kind == SKV_KIND_FOLDER)
        return skv_ldap_refuse(call, SKV_UNAVAILABLE, "others keep adding to it");
    if (call->reply->status == SKV_OK)
        call->reply->number = tree->found;
    return call->reply->status;
}

/* Says how far it came. */
static void tell_progress(const tree_call *tree, skv_reply *reply)
{
    size_t used = strlen(reply->message);

    if (reply->status > SKV_END && tree->deleted > 0)
        snprintf(reply->message + used, sizeof reply->message - used, "; %zu of its entries were deleted before that",
                 tree->deleted);
}

int skv_ldap_deletetree(skv_store *store, const skv_key *folder, skv_wait *wait, skv_reply *reply)
{
    tree_call tree = {.keep = strcmp(folder->path, "globals") == 0 || strcmp(folder->path, "environments") == 0};

    skv_buf_init(&tree.dns, SKV_DATA_MAX);
    if (skv_ldap_begin(&tree.call, store, SKV_OP_DELETETREE, folder, SKV_KIND_FOLDER, wait, reply) == SKV_OK) {
        tree.call.round_trip_ns = wait->deadline_ns == INT64_MAX ? INT64_MAX : wait->deadline_ns - skv_now_ns();
        skv_ldap_run(&tree.call, attempt);
        tell_progress(&tree, reply);
    }
    skv_ldap_end(&tree.call);
    skv_buf_free(&tree.dns);
    return reply->status;
}
