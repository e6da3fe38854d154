/* jansson reads every document that the JSON reader of the extension accepts, with the same result. */
#include "json_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reads((const char *)data, size);
    return 0;
}
