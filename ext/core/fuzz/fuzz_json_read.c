/* jansson reads every document that the JSON reader accepts, with the same result. What Ruby would load of a document
 * has the size that its writer says, also where there is little room. */
#include "json_tree.h"
#include "json/marshal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *room = malloc(size + 8);
    size_t most = room ? skv_json_marshal((const char *)data, size, room, size + 8) : 0;

    assert(most <= size + 8);
    free(room);
    reads((const char *)data, size);
    return 0;
}
