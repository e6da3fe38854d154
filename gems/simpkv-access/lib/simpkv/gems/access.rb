# frozen_string_literal: true

require 'simpkv/gems'

Simpkv::Gems.add('simpkv-access', '1.1.0', File.expand_path('../..', __dir__))
