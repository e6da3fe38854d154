# frozen_string_literal: true

# The common part of the properties of simpkv_user, simpkv_role and simpkv_role_binding: what is declared in the store.
#
# The value of this file is the module.
Module.new do
  def retrieve
    stored(provider.stored)
  end

  # Both sides in the form of the store.
  def insync?(_current)
    stored(provider.wanted) == stored(provider.stored)
  end

  def set(_value)
    provider.declare
  end

  # @param declaration [Hash]
  # @return [Object] this property of it
  def stored(declaration)
    declaration&.fetch(name.to_s)
  end
end
