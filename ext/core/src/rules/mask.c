#include "rules/mask.h"

#include "rules/limits.h"
#include "rules/value.h"
#include "json/tree.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The marks are a tree: an object has the marks of a value's members or elements by their names, and an integer marks
 * the value. The integer is the number of the rule that wrote the value, or OTHERS. */
#define OTHERS (-2) /* several rules: masked for each of them */

/* ---- Reading ---- */

#define COPY_WORK 4 /* values that are searched in the time in which one is copied */

static void count_values(skv_mask_reader reader, size_t count)
{
    if (reader.work)
        *reader.work += count;
}

static json_t *new_masked(void)
{
    return json_string(SKV_MASKED);
}

static bool is_marked_for(skv_mask_reader reader, json_t *marks)
{
    return json_is_integer(marks) && (reader.rule < 0 || json_integer_value(marks) != reader.rule);
}

/* `marks` are those of the value with that name in the container. */
static bool is_hidden(skv_mask_reader reader, json_t *container, const char *name, json_t *marks)
{
    return is_marked_for(reader, marks) ||
           (reader.names && json_is_object(container) && skv_secret_names_have(reader.names, name));
}

typedef struct element_name {
    char text[24];
} element_name;

static element_name name_of_element(size_t index)
{
    element_name name;

    snprintf(name.text, sizeof name.text, "%zu", index);
    return name;
}

/* Returns the marks of the value that the walk is at. */
static json_t *marks_below(json_t *marks, const skv_json_walk *walk)
{
    if (!json_is_object(marks))
        return NULL;
    return json_object_get(marks, walk->name ? walk->name : name_of_element(walk->count - 1).text);
}

/* `depth` is the number of brackets that may still open; deeper values are hidden. */
static bool has_hidden(skv_mask_reader reader, json_t *value, json_t *marks, size_t depth)
{
    if (!reader.names && !json_is_object(marks))
        return false;
    count_values(reader, 1);
    if (depth == 0)
        return skv_json_is_container(value);
    for (skv_json_walk walk = {.container = value}; skv_json_next(&walk);) {
        json_t *below = marks_below(marks, &walk);

        if (is_hidden(reader, value, walk.name, below) || has_hidden(reader, walk.value, below, depth - 1))
            return true;
    }
    return false;
}

/* As has_hidden(). */
static json_t *copy_masked(skv_mask_reader reader, json_t *value, json_t *marks, size_t depth)
{
    json_t *result;

    count_values(reader, COPY_WORK);
    if (!skv_json_is_container(value))
        return json_copy(value);
    if (depth == 0)
        return new_masked();
    result = skv_json_empty(value);
    for (skv_json_walk walk = {.container = value}; result && skv_json_next(&walk);) {
        json_t *below = marks_below(marks, &walk);
        bool hidden = is_hidden(reader, value, walk.name, below);

        skv_json_add(&result, walk.name, hidden ? new_masked() : copy_masked(reader, walk.value, below, depth - 1));
    }
    return result;
}

json_t *skv_mask_read(const skv_mask *mask, skv_mask_reader reader, json_t *tree, const char *const *names,
                      size_t count, skv_reply *reply)
{
    json_t *marks = mask ? mask->marks : NULL, *result;
    bool hidden = false;

    for (size_t i = 0; !hidden && i < count; i++) {
        json_t *container = tree;

        tree = skv_value_member(container, names[i]);
        if (!tree)
            return NULL;
        marks = json_object_get(marks, names[i]);
        hidden = is_hidden(reader, container, names[i], marks);
    }
    if (!hidden && !has_hidden(reader, tree, marks, SKV_VALUE_DEPTH_MAX))
        return json_incref(tree);
    result = hidden ? new_masked() : copy_masked(reader, tree, marks, SKV_VALUE_DEPTH_MAX);
    if (!result)
        skv_fail_memory(reply);
    return result;
}

json_t *skv_mask_read_unchanged(json_t **masked, const skv_secret_names *secrets, json_t *tree,
                                const char *const *names, size_t count, skv_reply *reply)
{
    const skv_mask_reader reader = {.names = secrets, .rule = -1};
    bool hidden = false;

    if (secrets && !*masked)
        *masked = skv_mask_read(NULL, reader, tree, NULL, 0, reply);
    if (secrets)
        tree = *masked;
    for (size_t i = 0; !hidden && tree && i < count; i++) {
        hidden = is_hidden(reader, tree, names[i], NULL);
        tree = skv_value_member(tree, names[i]);
    }
    return json_incref(tree);
}

/* ---- Marking ---- */

void skv_mask_free(skv_mask *mask)
{
    json_decref(mask->marks);
    mask->marks = NULL;
}

/* A change of the value with that name in a container. */
typedef struct place {
    json_t *container; /* NULL if it does not exist yet */
    json_t *marks;     /* those of the container's members: an object */
    const char *name;
    element_name index; /* the name, if the pointer has "-" for it */
} place;

static void set_name(place *p, const char *name)
{
    p->name = name;
    if (!json_is_array(p->container) || strcmp(name, "-") != 0)
        return;
    p->index = name_of_element(json_array_size(p->container));
    p->name = p->index.text;
}

static skv_status set_mark(const place *p, int rule, skv_reply *reply)
{
    return json_object_set_new(p->marks, p->name, json_integer(rule)) == 0 ? SKV_OK : skv_fail_memory(reply);
}

/* Returns true if no other rule marked the value or a part of it. */
static bool is_own(json_t *mark, int rule)
{
    if (json_is_integer(mark))
        return json_integer_value(mark) == rule;
    for (skv_json_walk walk = {.container = mark}; skv_json_next_member(&walk);)
        if (!is_own(walk.value, rule))
            return false;
    return true;
}

/* A value that another rule marked, or a part of it, is masked for all rules once this rule writes to it. */
static skv_status share_mark(const place *p, int rule, skv_reply *reply)
{
    return set_mark(p, is_own(json_object_get(p->marks, p->name), rule) ? rule : OTHERS, reply);
}

/* Moves to the container with the name. A sensitive rule makes its marks if there are none. Returns false if there is
 * nothing to move to: the value with the name is marked as a whole, or has no marks, or memory ran out. */
static bool enter_marks(place *p, int rule, skv_reply *reply)
{
    json_t *below = json_object_get(p->marks, p->name);

    if (json_is_integer(below) && rule >= 0)
        share_mark(p, rule, reply);
    if (!below && rule >= 0 && json_object_set_new(p->marks, p->name, json_object()) != 0)
        skv_fail_memory(reply);
    p->marks = json_object_get(p->marks, p->name);
    p->container = p->container ? skv_value_member(p->container, p->name) : NULL;
    return json_is_object(p->marks);
}

/* Gives each mark behind the element the name that its element has after the deletion. */
static skv_status move_marks_up(const place *p, size_t deleted, skv_reply *reply)
{
    json_t *moved = json_object();
    bool complete = moved;

    for (skv_json_walk walk = {.container = p->marks}; complete && skv_json_next_member(&walk);) {
        size_t index = SIZE_MAX;

        if (!skv_value_index(walk.name, &index) || index == deleted)
            continue;
        index -= index > deleted;
        complete = json_object_set(moved, name_of_element(index).text, walk.value) == 0;
    }
    complete = complete && json_object_clear(p->marks) == 0 && json_object_update(p->marks, moved) == 0;
    json_decref(moved);
    return complete ? SKV_OK : skv_fail_memory(reply);
}

static skv_status remove_mark(const place *p, skv_reply *reply)
{
    size_t index;

    if (!json_is_array(p->container)) {
        json_object_del(p->marks, p->name);
        return SKV_OK;
    }
    if (!skv_value_index(p->name, &index) || index >= json_array_size(p->container))
        return SKV_OK;
    return move_marks_up(p, index, reply);
}

static skv_status mark_change(const place *p, skv_change change, int rule, skv_reply *reply)
{
    if (change == SKV_CHANGE_DELETE)
        return remove_mark(p, reply);
    if (change == SKV_CHANGE_EXTEND)
        return rule < 0 ? SKV_OK : share_mark(p, rule, reply);
    if (rule >= 0)
        return set_mark(p, rule, reply);
    json_object_del(p->marks, p->name);
    return SKV_OK;
}

skv_status skv_mask_change(skv_mask *mask, json_t *tree, const skv_pointer *pointer, skv_change change, int rule,
                           skv_reply *reply)
{
    int writer = change == SKV_CHANGE_DELETE ? -1 : rule;
    place p = {.container = tree};

    if (!mask->marks && writer < 0)
        return SKV_OK;
    if (!mask->marks)
        mask->marks = json_object();
    if (!mask->marks)
        return skv_fail_memory(reply);
    p.marks = mask->marks;
    set_name(&p, pointer->names[0]);
    for (size_t i = 1; i < pointer->count; i++) {
        if (!enter_marks(&p, writer, reply))
            return reply->status;
        set_name(&p, pointer->names[i]);
    }
    return mark_change(&p, change, rule, reply);
}

/* ---- Listing ---- */

/* Recurses as deep as the pointers that marked. */
static void list_marks(json_t *marks, skv_buf *path, json_t **list)
{
    size_t len = path->len;

    for (skv_json_walk walk = {.container = marks}; skv_json_next_member(&walk);) {
        skv_buf_put_char(path, '/');
        skv_pointer_put_name(path, walk.name, strlen(walk.name));
        if (json_is_object(walk.value))
            list_marks(walk.value, path, list);
        else
            skv_json_append(list, skv_buf_failed(path) ? NULL : json_stringn(path->bytes, path->len));
        skv_buf_truncate(path, len);
    }
}

void skv_mask_list(const skv_mask *mask, const char *prefix, json_t **list)
{
    skv_buf path;

    skv_buf_init(&path, SIZE_MAX);
    skv_buf_put_string(&path, prefix);
    list_marks(mask->marks, &path, list);
    skv_buf_free(&path);
}
