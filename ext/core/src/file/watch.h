/* file/watch.h - the changes of the keys in a tree of folders, from inotify. The functions are skv_store_ops'. */
#ifndef SKV_FILE_WATCH_H
#define SKV_FILE_WATCH_H

#include "store/store.h"

skv_changes *skv_file_changes_open(skv_store *store, const skv_changes_args *args, skv_deadline *deadline,
                                   skv_reply *reply);
skv_status skv_file_changes_next(skv_changes *changes, skv_deadline *deadline, skv_reply *reply);
void skv_file_changes_close(skv_changes *changes);

#endif
