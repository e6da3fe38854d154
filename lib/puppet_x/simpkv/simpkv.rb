# frozen_string_literal: true

require 'simpkv'

adapter_code = File.join(File.dirname(Simpkv.method(:stats).source_location.first), 'simpkv/adapter.rb')
code_folder = File.dirname(__FILE__)
eval(File.read(adapter_code), binding, adapter_code) # rubocop:disable Security/Eval, Style/EvalWithLocation
