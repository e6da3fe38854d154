# frozen_string_literal: true

require 'simpkv/gems'

Simpkv::Gems.add('simpkv-operations', '1.1.0', File.expand_path('../..', __dir__))
