# frozen_string_literal: true

# The property `ensure` of simpkv_user, simpkv_role and simpkv_role_binding: its messages say what was done.
#
# The value of this file is the module.
Module.new do
  def change_to_s(current, wanted)
    [super, provider.outcome].compact.join(': ')
  end
end
