# frozen_string_literal: true

module Simpkv
  module Server
    module Console
      # How reports and addresses name a resource: `File[/etc/motd]`.
      module ResourceName
        FORM = /\A([^\[]+)\[(.*)\]\z/m.freeze
        private_constant :FORM

        # @param text [String]
        # @return [Array(String, String), nil] type and title; nil if it names no resource
        def self.parts(text)
          FORM.match(text)&.captures
        end
      end
    end
  end
end
