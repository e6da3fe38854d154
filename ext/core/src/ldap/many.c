#include "ldap/many.h"

#include "ldap/limit.h"

#include <string.h>

/* The number of lost connections after which the operation on one key handles each record. */
#define FAILURES_MAX 3

/* Larger documents are put alone, after a check of the server's limit: ldap/limit.h. */
#define DOCUMENT_MAX ((size_t)128 << 10)

/* ---- Items ---- */

static bool is_pipelined(const skv_ldap_item *item)
{
    return item->step < SKV_STEP_SINGLE;
}

/* A document that is refused without asking a server is left to the operation on one key. */
static bool is_pipelinable(const skv_record *record)
{
    const skv_put_args *put = &record->put;

    return !put->document || (put->document_len > 0 && put->document_len + put->expect_len <= DOCUMENT_MAX &&
                              skv_is_utf8(put->document, put->document_len));
}

static void add_record_item(skv_ldap_many *many, skv_store *store, skv_record *record)
{
    skv_ldap_item *item = &many->items[many->count++];
    skv_ldap_call call = {0};

    item->record = record;
    item->step = SKV_STEP_DONE;
    if (record->is_decided)
        return;
    item->step = SKV_STEP_SINGLE;
    skv_reply_reset(many->batch->each);
    if (is_pipelinable(record) && skv_ldap_begin(&call, store, many->ops->op, &record->key, SKV_KIND_KEY,
                                                 &many->deadline, many->batch->each) == SKV_OK) {
        item->step = SKV_STEP_READ;
        item->dn = call.dn;
        call.dn = NULL;
    }
    skv_ldap_end(&call);
}

static void free_items(skv_ldap_many *many)
{
    for (size_t i = 0; i < many->count; i++)
        skv_free(many->items[i].dn);
    skv_free(many->items);
}

/* ---- Responses ---- */

skv_ldap_call *skv_ldap_many_word(skv_ldap_many *many, const skv_ldap_item *item)
{
    skv_reply_reset(many->call.reply);
    many->call.key = &item->record->key;
    many->call.name = item->record->key.path;
    return &many->call;
}

void skv_ldap_many_decide(skv_ldap_many *many, skv_ldap_item *item)
{
    skv_batch_decide(many->batch, item->record);
    skv_reply_reset(many->call.reply);
    item->step = SKV_STEP_DONE;
}

bool skv_ldap_many_is_absent(const skv_ldap_many *many, const skv_ldap_response *response)
{
    return response->code == LDAP_NO_SUCH_OBJECT && skv_ldap_has_base(&many->call, response);
}

static void take_batch_response(skv_ldap_pipeline *pipeline, const skv_ldap_slot *slot, skv_ldap_response *response)
{
    skv_ldap_many *many = (skv_ldap_many *)pipeline->call;
    skv_ldap_item *item = &many->items[slot->tag];

    /* An unreadable response counts as lost. */
    item->in_doubt |= response->code < 0 && skv_put_is_write(item->step);
    if (item->step == SKV_STEP_READ || item->step == SKV_STEP_TWIN || item->step == SKV_STEP_CONFIRM)
        skv_ldap_note_hidden(pipeline->call, response);
    many->ops->take(many, item, response);
    if (item->record && item->step == SKV_STEP_DONE)
        skv_pool_count(many->call.pool, many->call.conn, many->ops->op, skv_now_ns() - slot->sent_ns);
}

/* ---- Requests ---- */

skv_ldap_code skv_ldap_many_read(skv_ldap_many *many, const skv_ldap_item *item, int wanted, int *id)
{
    skv_ldap_code error = LDAP_NO_MEMORY;
    char *twin;

    if (item->step != SKV_STEP_TWIN)
        return skv_ldap_entry_start_read(&many->call, item->dn, wanted, id);
    twin = skv_ldap_twin(item->dn);
    if (twin)
        error = skv_ldap_entry_start_read(&many->call, twin, SKV_READ_KIND, id);
    skv_free(twin);
    return error;
}

static size_t request_size(const skv_ldap_item *item)
{
    size_t documents = skv_put_is_write(item->step) ? item->record->put.document_len + item->record->put.expect_len : 0;

    return strlen(item->dn) + SKV_LDAP_OVERHEAD + documents;
}

/* Handles a request that was not sent completely. */
static void note_send_failure(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_code error)
{
    skv_conn *conn = many->call.conn;

    error = skv_conn_send_error(conn, error);
    if (error == LDAP_USER_CANCELLED && skv_conn_is_usable(conn)) {
        many->stopped = true;
        return;
    }
    if (skv_put_is_write(item->step) && skv_conn_has_sent(conn)) {
        item->in_doubt = true;
        item->step = SKV_STEP_SINGLE;
    }
    if (!skv_conn_is_usable(conn))
        many->pipeline.error = error;
    else
        item->step = item->record ? SKV_STEP_SINGLE : SKV_STEP_DONE;
}

/* After the cancel handle has fired, no other record begins. Those that have begun go on: a caller may repeat an
 * interrupted batch again and again, and each repetition has to decide a record. */
static bool may_begin(skv_ldap_many *many, skv_ldap_item *item)
{
    if (item->begun || !item->record)
        return true;
    many->interrupted |= skv_deadline_has_fired(skv_ldap_round_trip(&many->call));
    item->begun = !many->interrupted;
    return item->begun;
}

static void send_item(skv_ldap_many *many, size_t index)
{
    skv_ldap_item *item = &many->items[index];
    size_t bytes = request_size(item);
    skv_ldap_code error;
    int id = 0;

    if (!skv_ldap_pipeline_room(&many->pipeline, bytes))
        return;
    if (many->ops->waits && many->ops->waits(many, item))
        return;
    if (!may_begin(many, item))
        return;
    error = many->ops->send(many, item, &id);
    if (error == LDAP_SUCCESS)
        skv_ldap_pipeline_sent(&many->pipeline, id, index, bytes);
    else
        note_send_failure(many, item, error);
}

/* Sends the requests of all items at these steps, and waits for all responses. Returns false when the connection can
 * carry no more. */
static bool send_steps(skv_ldap_many *many, skv_step from, skv_step to)
{
    for (size_t i = 0; i < many->count && !many->pipeline.error && !many->stopped; i++) {
        const skv_ldap_item *item = &many->items[i];

        if (item->step >= from && item->step <= to && !(many->ops->waits && many->ops->waits(many, item)))
            send_item(many, i);
    }
    return skv_ldap_pipeline_drain(&many->pipeline) && !many->stopped;
}

/* Sends the items that others wait for, as long as the operation plans more. */
static bool run_plans(skv_ldap_many *many)
{
    bool goes_on = true;

    while (goes_on && many->ops->plan && many->ops->plan(many))
        goes_on = send_steps(many, SKV_STEP_READ, SKV_STEP_MAKE);
    return goes_on;
}

static size_t first_open_item(const skv_ldap_many *many)
{
    size_t i = 0;

    while (i < many->count && !(many->items[i].record && many->items[i].step != SKV_STEP_DONE))
        i++;
    return i;
}

/* Marks the requests of a lost connection: reads are sent again, and the operation on one key handles the writes. */
static void note_lost_requests(skv_ldap_many *many)
{
    skv_ldap_pipeline *pipeline = &many->pipeline;

    for (size_t i = 0; i < pipeline->in_flight; i++) {
        skv_ldap_item *item = &many->items[pipeline->slots[i].tag];

        if (!skv_put_is_write(item->step))
            continue;
        item->in_doubt = true;
        item->step = SKV_STEP_SINGLE;
    }
}

/* Fails the attempt. An interrupt or a timeout stops the batch. The operation on one key reports other failures. */
static void fail_batch_connection(skv_ldap_many *many)
{
    skv_ldap_call *call = &many->call;

    note_lost_requests(many);
    skv_reply_reset(call->reply);
    if (first_open_item(many) < many->count)
        skv_ldap_many_word(many, &many->items[first_open_item(many)]);
    skv_ldap_fail(call, &(skv_ldap_response){.code = many->pipeline.error});
    if (call->reply->status == SKV_INTERRUPTED || call->reply->status == SKV_TIMEOUT)
        skv_batch_stop(many->batch);
    many->failures++;
    call->again = false;
}

/* Sends the batch once. Returns the connection to the pool itself, because each record counts as an operation, and the
 * batch does not. */
static skv_status attempt_batch(skv_ldap_call *call)
{
    skv_ldap_many *many = (skv_ldap_many *)call;

    skv_ldap_pipeline_begin(&many->pipeline, call, many->count, SKV_PIPELINE_MAX, SKV_PIPELINE_MAX / 2,
                            take_batch_response);
    /* A missing folder may show only when a key is added. */
    (void)(send_steps(many, SKV_STEP_READ, SKV_STEP_READ) && send_steps(many, SKV_STEP_TWIN, SKV_STEP_TWIN) &&
           run_plans(many) && send_steps(many, SKV_STEP_ADD, SKV_STEP_REPLACE) && run_plans(many) &&
           send_steps(many, SKV_STEP_ADD, SKV_STEP_REPLACE) && send_steps(many, SKV_STEP_CONFIRM, SKV_STEP_CONFIRM));
    skv_ldap_pipeline_drain(&many->pipeline);
    if (many->pipeline.error)
        fail_batch_connection(many);
    skv_reply_reset(call->reply);
    skv_ldap_pipeline_end(&many->pipeline);
    skv_pool_return(call->pool, call->conn);
    call->conn = NULL;
    return SKV_OK;
}

/* ---- Rounds ---- */

/* Returns true if a connection is needed: an item can be sent. */
static bool has_requests(const skv_ldap_many *many)
{
    for (size_t i = 0; i < many->count; i++)
        if (is_pipelined(&many->items[i]) && !(many->ops->waits && many->ops->waits(many, &many->items[i])))
            return true;
    return false;
}

static void stop_interrupted_batch(skv_ldap_many *many)
{
    skv_deadline_check(&many->call.round_trip);
    skv_reply_reset(many->call.reply);
    skv_fail(many->call.reply, SKV_INTERRUPTED, "interrupted");
    skv_batch_stop(many->batch);
}

/* Handles many items at once, as far as a connection carries. After a failure, the operation on one key handles the
 * first open item, and produces the message of the failure. */
static void run_pipelined(skv_ldap_many *many)
{
    skv_ldap_call *call = &many->call;
    int failures = many->failures;

    if (many->failures >= FAILURES_MAX || !has_requests(many))
        return;
    skv_reply_reset(call->reply);
    if (skv_ldap_run(call, attempt_batch) == SKV_INTERRUPTED)
        skv_batch_stop(many->batch);
    if ((call->reply->status != SKV_OK || many->failures > failures) && first_open_item(many) < many->count)
        many->items[first_open_item(many)].step = SKV_STEP_SINGLE;
    if (many->stopped && first_open_item(many) < many->count)
        stop_interrupted_batch(many);
}

static void run_singly(skv_ldap_many *many)
{
    skv_batch *batch = many->batch;

    for (size_t i = 0; i < many->count && batch->status == SKV_OK; i++) {
        skv_ldap_item *item = &many->items[i];
        skv_deadline deadline = skv_batch_deadline(batch);
        bool goes_on;

        if (many->failures >= FAILURES_MAX && item->record && is_pipelined(item))
            item->step = SKV_STEP_SINGLE;
        if (item->step != SKV_STEP_SINGLE)
            continue;
        goes_on = many->ops->single(many, item, &deadline);
        item->step = SKV_STEP_DONE;
        skv_batch_decide(batch, item->record);
        if (!goes_on || batch->each->status == SKV_INTERRUPTED || batch->each->status == SKV_NOMEM)
            skv_batch_stop(batch);
    }
}

static void run_batch_rounds(skv_ldap_many *many)
{
    while (many->batch->status == SKV_OK && first_open_item(many) < many->count) {
        run_pipelined(many);
        if (many->ops->settle)
            many->ops->settle(many);
        run_singly(many);
        if (many->interrupted && many->batch->status == SKV_OK && first_open_item(many) < many->count)
            stop_interrupted_batch(many);
    }
    /* The message for a record that was not reached says whether it may have been written. */
    for (size_t i = 0; i < many->batch->count; i++)
        many->batch->records[i].number |= many->items[i].step != SKV_STEP_DONE && many->items[i].in_doubt;
}

static bool prepare_items(skv_ldap_many *many, skv_store *store)
{
    skv_batch *batch = many->batch;
    size_t items_max = many->ops->items_max > 1 ? many->ops->items_max : 1;

    many->items = skv_alloc_zeroed(batch->count * items_max, sizeof *many->items);
    if (!many->items)
        return false;
    for (size_t i = 0; i < batch->count; i++)
        add_record_item(many, store, &batch->records[i]);
    return !many->ops->prepare || many->ops->prepare(many);
}

void skv_ldap_many_run(skv_ldap_many *many, skv_store *store, skv_batch *batch, const skv_many_ops *ops)
{
    static const skv_key everything = {"", 0};
    skv_ldap_call *call = &many->call;
    bool ready = false;

    many->batch = batch;
    many->ops = ops;
    many->deadline = skv_batch_deadline(batch);
    if (skv_ldap_begin(call, store, ops->op, &everything, SKV_KIND_FOLDER, &many->deadline, batch->each) == SKV_OK) {
        call->round_trip_ns = many->deadline.end_ns == INT64_MAX ? INT64_MAX : batch->timeout_ms * SKV_NS_PER_MS;
        call->round_trip_ns += call->round_trip_ns == 0;
        call->retries = 0;
        ready = prepare_items(many, store);
    }
    if (ready) {
        run_batch_rounds(many);
    } else {
        if (batch->each->status == SKV_OK)
            skv_fail_memory(batch->each);
        skv_batch_stop(batch);
    }
    skv_ldap_end(call);
    free_items(many);
}
