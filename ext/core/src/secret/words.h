/* secret/words.h - the words of passphrases. */
#ifndef SKV_SECRET_WORDS_H
#define SKV_SECRET_WORDS_H

#define SKV_WORDS 2048
#define SKV_WORD_MAX 8 /* bytes of the longest word */

/* Small letters alone. The first four letters of a word tell it from the others. */
extern const char skv_words[SKV_WORDS][SKV_WORD_MAX + 1];

#endif
