# frozen_string_literal: true

# The locale of this process as C sees it, which Ruby itself does not change.
module CLocale
  LC_ALL = 6
  private_constant :LC_ALL

  if RUBY_ENGINE == 'jruby'
    require 'ffi'

    # The two functions of the C library.
    module Functions
      extend FFI::Library

      ffi_lib FFI::Library::LIBC
      attach_function :setlocale, %i[int string], :string
      attach_function :strtod, %i[string pointer], :double
    end
  else
    require 'fiddle/import'

    # The two functions of the C library.
    module Functions
      extend Fiddle::Importer

      dlload Fiddle.dlopen(nil)
      extern 'char *setlocale(int, const char *)'
      extern 'double strtod(const char *, void *)'
    end
  end
  private_constant :Functions

  def self.set(name)
    result = Functions.setlocale(LC_ALL, name)
    missing = result.nil? || (result.respond_to?(:null?) && result.null?)
    raise "there is no locale #{name}: bin/setup makes it" if missing
  end

  # How C reads a number now.
  def self.read_number(text)
    Functions.strtod(text, nil)
  end
end
