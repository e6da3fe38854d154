#include "ldap/put_many.h"

#include "base/ascii.h"

#include <stdlib.h>
#include <string.h>

bool skv_put_is_ambiguous_path(const skv_put_batch *put, const char *path)
{
    if (put->hex && !put->many.call.store->fold_case)
        return false;
    for (; *path; path++)
        if (*path <= ' ' || *path > '~' || (put->hex && *path >= 'A' && *path <= 'Z'))
            return true;
    return false;
}

bool skv_put_name_items(skv_put_batch *put)
{
    skv_ldap_many *many = &put->many;
    size_t size = 0;
    char *name;

    for (size_t i = 0; i < many->count; i++)
        size += many->items[i].record->key.len + 1;
    name = put->names = skv_alloc(size);
    if (!name)
        return false;
    for (size_t i = 0; i < many->count; i++) {
        const skv_key *key = &many->items[i].record->key;

        many->items[i].name = name;
        for (size_t at = 0; at <= key->len; at++)
            *name++ = put->hex ? key->path[at] : skv_ascii_lower(key->path[at]);
    }
    return true;
}

/* The slash sorts before all other characters, so that the names below a name follow it at once. */
static int compare_names(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0;

    while (i < a_len && i < b_len && a[i] == b[i])
        i++;
    if (i == a_len || i == b_len)
        return (a_len > b_len) - (a_len < b_len);
    return a[i] == '/' ? -1 : b[i] == '/' ? 1 : (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
}

static int compare_item_names(const void *a, const void *b)
{
    const char *one = (*(skv_ldap_item *const *)a)->name, *other = (*(skv_ldap_item *const *)b)->name;

    return compare_names(one, strlen(one), other, strlen(other));
}

size_t skv_put_folder_len(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? (size_t)(slash - name) : 0;
}

static int compare_item_folders(const void *a, const void *b)
{
    const char *one = (*(skv_ldap_item *const *)a)->name, *other = (*(skv_ldap_item *const *)b)->name;

    return compare_names(one, skv_put_folder_len(one), other, skv_put_folder_len(other));
}

void skv_put_sort_by_folder(skv_put_batch *put)
{
    qsort(put->order, put->many.count, sizeof(skv_ldap_item *), compare_item_folders);
}

bool skv_put_is_same_folder(const skv_ldap_item *a, const skv_ldap_item *b)
{
    return compare_item_folders(&a, &b) == 0;
}

void skv_put_leave_to_single(skv_ldap_item *item)
{
    if (item->step < SKV_STEP_SINGLE)
        item->step = SKV_STEP_SINGLE;
}

static bool is_name_below(const char *name, const char *above)
{
    size_t len = strlen(above);

    return strncmp(name, above, len) == 0 && name[len] == '/';
}

void skv_put_separate_related(skv_put_batch *put)
{
    skv_ldap_many *many = &put->many;
    bool exclusive = put->hex || many->call.store->strict_paths;

    qsort(put->order, many->count, sizeof(skv_ldap_item *), compare_item_names);
    for (size_t i = 0; i < many->count; i++) {
        const char *name = put->order[i]->name;
        bool same = false;

        for (size_t j = i + 1; j < many->count && !same; j++) {
            same = strcmp(put->order[j]->name, name) == 0;
            if (!same && !(exclusive && is_name_below(put->order[j]->name, name)))
                break;
            skv_put_leave_to_single(put->order[i]);
            skv_put_leave_to_single(put->order[j]);
        }
    }
}
