/* Simpkv::Native: the extension for MRI, and how it is loaded. */
#include "convert.h"

static VALUE name_of_binding(VALUE self)
{
    return rb_usascii_str_new_cstr("cext");
}

static VALUE abi_number(VALUE self)
{
    return INT2FIX(skv_abi());
}

static VALUE library_version(VALUE self)
{
    return rb_usascii_str_new_cstr(skv_version());
}

/* Returns nil for a number that is no status. */
static VALUE name_of_status(VALUE self, VALUE number)
{
    const char *name = skv_status_name(NUM2INT(number));

    return name ? rb_usascii_str_new_cstr(name) : Qnil;
}

RUBY_FUNC_EXPORTED void Init_simpkv_ext(void);

void Init_simpkv_ext(void)
{
    skv_rb_native = rb_define_module_under(rb_define_module("Simpkv"), "Native");
    rb_define_singleton_method(skv_rb_native, "binding_name", name_of_binding, 0);
    rb_define_singleton_method(skv_rb_native, "abi", abi_number, 0);
    rb_define_singleton_method(skv_rb_native, "version", library_version, 0);
    rb_define_singleton_method(skv_rb_native, "status_name", name_of_status, 1);
    skv_rb_init_names(skv_rb_native);
    skv_rb_init_json_generate(skv_rb_native);
    skv_rb_init_json_parse(skv_rb_native);
    skv_rb_init_store(skv_rb_native);
    skv_rb_init_rules(skv_rb_native);
    skv_rb_init_secret(skv_rb_native);
    skv_rb_init_keyring(skv_rb_native);
    skv_rb_init_audit_log(skv_rb_native);
}
