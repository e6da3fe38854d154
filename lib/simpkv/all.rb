# frozen_string_literal: true

# Loads the whole library, for processes with threads, and for those that fork when all is loaded.
require 'simpkv'
Simpkv::LIBRARY.each_key { |constant| Simpkv.const_get(constant) }
