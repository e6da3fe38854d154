#include "net/gate.h"

#include <ldap.h>
#include <string.h>

/* The tags of a message. */
#define TAG_INTEGER 0x02
#define TAG_OCTET_STRING 0x04
#define TAG_ENUMERATED 0x0a
#define TAG_NAME 0x80           /* of an intermediate response */
#define TAG_VALUE 0x81          /* the same */
#define TAG_EXTENDED_NAME 0x8a  /* of an extended response */
#define TAG_EXTENDED_VALUE 0x8b /* the same */
#define TAG_CONTROLS 0xa0
#define TAG_REFERRAL 0xa3

/* The shortest message: a message ID and an operation without content. A first read of that size stays within the
 * message: bytes that follow it may be those of a TLS handshake. */
#define SHORTEST 7

/* A message starts with up to five headers and numbers of six and four bytes: all that the gate reads of most messages.
 */
#define HEADER_MAX 6
#define HEAD_MAX (4 * HEADER_MAX + 2 * 4)

typedef struct gate {
    skv_transport *transport;
    size_t size;         /* of the current message; 0: not known yet */
    size_t start;        /* of its content */
    size_t wanted;       /* the bytes to hold before any is handed out */
    size_t count, given; /* the bytes held; those of them that were handed out */
    size_t left;         /* the bytes that go to libldap directly */
    bool is_admitted;
    unsigned char *held; /* `head`, or the whole message */
    unsigned char head[HEAD_MAX];
} gate;

/* An element of a message. Its content lies between two offsets. */
typedef struct element {
    unsigned char tag;
    size_t start, end;
} element;

typedef struct message {
    bool is_unsolicited;
    element operation;
} message;

typedef enum verdict { ADMITTED, INCOMPLETE, FAREWELL, REFUSED, OUT_OF_MEMORY } verdict;

/* ---- Elements --------------------------------------------------------------------------------------------------- */

/* Reads the header of the element at an offset. Returns false for one that does not end before `end`, whose length is
 * indefinite, or has more bytes than libldap takes. The gate holds the header, if it is before `end`. */
static inline bool read_element(const gate *g, size_t at, size_t end, element *e)
{
    size_t lengths, len;

    if (at > end || end - at < 2)
        return false;
    e->tag = g->held[at];
    len = g->held[at + 1];
    e->start = at + 2;
    if (len & 0x80) {
        lengths = len & 0x7f;
        if (lengths == 0 || lengths > HEADER_MAX - 2 || lengths > end - e->start)
            return false;
        for (len = 0; lengths > 0; lengths--)
            len = len << 8 | g->held[e->start++];
    }
    e->end = e->start + len;
    return len <= end - e->start;
}

/* Reads the element after another one, if it has that tag. */
static bool read_next(const gate *g, size_t end, unsigned char tag, element *e)
{
    element next;

    if (!read_element(g, e->end, end, &next) || next.tag != tag)
        return false;
    *e = next;
    return true;
}

/* Returns true for a number of at most four bytes that is not negative. */
static bool is_number(const gate *g, const element *e, unsigned char tag)
{
    return e->tag == tag && e->end > e->start && e->end - e->start <= 4 && g->held[e->start] < 0x80;
}

static bool is_zero(const gate *g, const element *e)
{
    for (size_t i = e->start; i < e->end; i++)
        if (g->held[i])
            return false;
    return true;
}

/* Returns true if nothing but controls follows the operation. libldap does not look where an operation ends. */
static bool only_controls_follow(const gate *g, const element *operation)
{
    element controls;

    return operation->end == g->size || (read_element(g, operation->end, g->size, &controls) &&
                                         controls.tag == TAG_CONTROLS && controls.end == g->size);
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

/* Reads the message ID, and the header of the operation. */
static bool read_envelope(const gate *g, message *m)
{
    element id;

    if (!read_element(g, g->start, g->size, &id) || !is_number(g, &id, TAG_INTEGER))
        return false;
    m->is_unsolicited = is_zero(g, &id);
    return read_element(g, id.end, g->size, &m->operation);
}

/* libldap aborts at an empty name, and at one that starts with a NUL. */
static bool begins_like_oid(const gate *g, const element *name)
{
    return name->end > name->start && g->held[name->start] >= '0' && g->held[name->start] <= '9';
}

/* Returns true for a response whose name, if there is one, can be an OID. */
static bool is_intermediate(const gate *g, const element *operation)
{
    element first;

    if (operation->start == operation->end)
        return operation->end == g->size || g->held[operation->end] == TAG_CONTROLS;
    if (!read_element(g, operation->start, operation->end, &first))
        return false;
    return first.tag == TAG_VALUE || (first.tag == TAG_NAME && begins_like_oid(g, &first));
}

static bool is_result(const gate *g, const element *operation)
{
    element code;

    return read_element(g, operation->start, operation->end, &code) && is_number(g, &code, TAG_ENUMERATED);
}

/* Takes a message by its head, unless all of it is needed. */
static verdict judge_head(const gate *g)
{
    message m;

    if (!read_envelope(g, &m))
        return REFUSED;
    switch (m.operation.tag) {
    case LDAP_RES_EXTENDED:
        return g->size <= SKV_EXTENDED_MAX ? INCOMPLETE : REFUSED;
    case LDAP_RES_SEARCH_ENTRY:
    case LDAP_RES_SEARCH_REFERENCE:
        return m.is_unsolicited ? REFUSED : ADMITTED;
    case LDAP_RES_INTERMEDIATE:
        return !m.is_unsolicited && is_intermediate(g, &m.operation) ? ADMITTED : REFUSED;
    case LDAP_RES_BIND:
    case LDAP_RES_SEARCH_RESULT:
    case LDAP_RES_MODIFY:
    case LDAP_RES_ADD:
    case LDAP_RES_DELETE:
    case LDAP_RES_MODDN:
    case LDAP_RES_COMPARE:
        return !m.is_unsolicited && is_result(g, &m.operation) ? ADMITTED : REFUSED;
    default:
        return REFUSED;
    }
}

static bool has_text(const gate *g, const element *e, const char *text)
{
    return e->end - e->start == strlen(text) && memcmp(g->held + e->start, text, strlen(text)) == 0;
}

/* Takes an extended response that is all there. A server says by an unsolicited one that it ends the connection. */
static verdict judge_extended(const gate *g)
{
    message m;
    element e;
    bool has_name, has_value, is_farewell;
    size_t end;

    if (!read_envelope(g, &m) || !read_element(g, m.operation.start, m.operation.end, &e) ||
        !is_number(g, &e, TAG_ENUMERATED))
        return REFUSED;
    end = m.operation.end;
    if (!read_next(g, end, TAG_OCTET_STRING, &e) || !read_next(g, end, TAG_OCTET_STRING, &e))
        return REFUSED;
    (void)read_next(g, end, TAG_REFERRAL, &e);
    has_name = read_next(g, end, TAG_EXTENDED_NAME, &e);
    if (has_name && !begins_like_oid(g, &e))
        return REFUSED;
    is_farewell = has_name && has_text(g, &e, LDAP_NOTICE_OF_DISCONNECTION);
    has_value = read_next(g, end, TAG_EXTENDED_VALUE, &e);
    if (e.end != end || !only_controls_follow(g, &m.operation))
        return REFUSED;
    if (!m.is_unsolicited)
        return ADMITTED;
    return is_farewell && !has_value ? FAREWELL : REFUSED;
}

/* Reads the size of the message, and wants its head. */
static verdict judge_size(gate *g)
{
    element whole;

    if (!read_element(g, 0, SIZE_MAX, &whole) || whole.tag != LDAP_TAG_MESSAGE || whole.end < SHORTEST ||
        whole.end - whole.start > SKV_INCOMING_MAX || !skv_transport_spend(g->transport, whole.end))
        return REFUSED;
    g->size = whole.end;
    g->start = whole.start;
    g->wanted = g->size < HEAD_MAX ? g->size : HEAD_MAX;
    return INCOMPLETE;
}

static verdict hold_whole(gate *g)
{
    unsigned char *whole = skv_alloc(g->size);

    if (!whole)
        return OUT_OF_MEMORY;
    memcpy(whole, g->held, g->count);
    g->held = whole;
    g->wanted = g->size;
    return INCOMPLETE;
}

/* Judges the wanted bytes. INCOMPLETE: more are wanted. */
static verdict judge(gate *g)
{
    verdict v;

    if (!g->size)
        return judge_size(g);
    if (g->held != g->head)
        return judge_extended(g);
    v = judge_head(g);
    return v == INCOMPLETE ? hold_whole(g) : v;
}

/* ---- The layer -------------------------------------------------------------------------------------------------- */

static void forget_message(gate *g)
{
    if (g->held != g->head)
        skv_free(g->held);
    g->held = g->head;
    g->size = g->count = g->given = g->left = 0;
    g->wanted = SHORTEST;
    g->is_admitted = false;
}

/* Ends the connection. */
static ber_slen_t end_connection(gate *g, verdict v)
{
    return skv_transport_fail(g->transport, v == REFUSED         ? SKV_MALFORMED
                                            : v == OUT_OF_MEMORY ? SKV_NOMEM
                                                                 : SKV_UNAVAILABLE);
}

/* Reads until the current message is admitted. Returns 1, or what the layer below has returned. */
static ber_slen_t admit_message(Sockbuf_IO_Desc *desc, gate *g)
{
    verdict v = INCOMPLETE;

    while (v == INCOMPLETE) {
        while (g->count < g->wanted) {
            ber_slen_t got = LBER_SBIOD_READ_NEXT(desc, g->held + g->count, g->wanted - g->count);

            if (got <= 0)
                return got;
            g->count += (size_t)got;
        }
        v = judge(g);
    }
    if (v != ADMITTED)
        return end_connection(g, v);
    g->is_admitted = true;
    g->left = g->size - g->count;
    return 1;
}

static size_t hand_out_held(gate *g, void *out, size_t len)
{
    size_t there = g->count - g->given;

    if (len > there)
        len = there;
    memcpy(out, g->held + g->given, len);
    g->given += len;
    return len;
}

/* Never reads beyond the end of a message: a TLS handshake may follow. */
static ber_slen_t gate_read(Sockbuf_IO_Desc *desc, void *out, ber_len_t len)
{
    gate *g = desc->sbiod_pvt;
    ber_slen_t got = 0;
    size_t done;

    if (!g->is_admitted && (got = admit_message(desc, g)) <= 0)
        return got;
    done = hand_out_held(g, out, len);
    len -= done;
    if (len > 0 && g->left > 0) {
        got = LBER_SBIOD_READ_NEXT(desc, (char *)out + done, len < g->left ? len : g->left);
        if (got > 0) {
            g->left -= (size_t)got;
            done += (size_t)got;
        }
    }
    if (g->given == g->count && !g->left)
        forget_message(g);
    return done > 0 ? (ber_slen_t)done : got;
}

static ber_slen_t gate_write(Sockbuf_IO_Desc *desc, void *bytes, ber_len_t len)
{
    return LBER_SBIOD_WRITE_NEXT(desc, bytes, len);
}

static int gate_setup(Sockbuf_IO_Desc *desc, void *g)
{
    desc->sbiod_pvt = g;
    return 0;
}

static int gate_remove(Sockbuf_IO_Desc *desc)
{
    forget_message(desc->sbiod_pvt);
    skv_free(desc->sbiod_pvt);
    desc->sbiod_pvt = NULL;
    return 0;
}

static int gate_ctrl(Sockbuf_IO_Desc *desc, int option, void *argument)
{
    return LBER_SBIOD_CTRL_NEXT(desc, option, argument);
}

int skv_gate_attach(skv_transport *transport, Sockbuf *sockbuf)
{
    static Sockbuf_IO layer = {
        .sbi_setup = gate_setup,
        .sbi_remove = gate_remove,
        .sbi_ctrl = gate_ctrl,
        .sbi_read = gate_read,
        .sbi_write = gate_write,
    };
    gate *g = skv_alloc(sizeof *g);

    if (!g)
        return -1;
    g->transport = transport;
    g->held = g->head;
    forget_message(g);
    if (ber_sockbuf_add_io(sockbuf, &layer, LBER_SBIOD_LEVEL_APPLICATION, g) == 0)
        return 0;
    skv_free(g);
    return -1;
}
