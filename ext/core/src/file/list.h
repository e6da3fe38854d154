/* file/list.h - lists of a folder, and of the tree below it. The functions are skv_store_ops'. */
#ifndef SKV_FILE_LIST_H
#define SKV_FILE_LIST_H

#include "store/store.h"

skv_list *skv_file_list_open(skv_store *store, const skv_list_args *args, skv_deadline *deadline, skv_reply *reply);
skv_status skv_file_list_next(skv_list *list, skv_deadline *deadline, skv_reply *reply);
void skv_file_list_close(skv_list *list);

#endif
