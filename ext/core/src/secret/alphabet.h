/* secret/alphabet.h - the characters of passwords, what a password has at least of them, and its entropy. */
#ifndef SKV_SECRET_ALPHABET_H
#define SKV_SECRET_ALPHABET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SKV_PASSWORD_MAX 1024 /* characters */

typedef enum skv_class { SKV_DIGITS, SKV_UPPER, SKV_LOWER, SKV_SPECIAL, SKV_CLASSES } skv_class;

/* As options spell them: "digits", ... */
extern const char *const skv_class_names[SKV_CLASSES];

typedef struct skv_alphabet {
    const char *name, *characters;
} skv_alphabet;

/* What passwords are made of. */
typedef struct skv_recipe {
    const skv_alphabet *alphabet;
    size_t size;                  /* of the alphabet */
    size_t of_class[SKV_CLASSES]; /* the characters of the alphabet, by class; their sum is the size */
    size_t at_least[SKV_CLASSES]; /* what a password has of them */
} skv_recipe;

/* Returns the names of all alphabets, for messages: "'alphanumeric', ..." */
#define SKV_ALPHABETS "'alphanumeric', 'readable', 'safe', 'symbols', 'digits' or 'hex'"

/* Sets the alphabet, and nothing that passwords have at least. Returns false if there is none of this name. */
bool skv_recipe_init(skv_recipe *recipe, const char *alphabet);

/* Returns whether the text has what the recipe asks for. */
bool skv_recipe_accepts(const skv_recipe *recipe, const char *password, size_t len);

/* Returns the part of all texts of this length that the recipe accepts: 1 for all. */
double skv_recipe_part(const skv_recipe *recipe, size_t len);

/* Returns the bits of entropy of a password that is any of the texts that the recipe accepts. */
double skv_recipe_bits(const skv_recipe *recipe, size_t len);

#endif
