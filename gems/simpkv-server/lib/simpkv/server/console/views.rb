# frozen_string_literal: true

require 'erubi'
require 'tilt'
require 'tilt/erubi'

module Simpkv
  module Server
    module Console
      # The templates of the folder `views`, by path. Erubi escapes what is not marked as HTML.
      module Views
        FOLDER = File.join(__dir__, 'views')
        TEMPLATES = Dir['**/*.erb', base: FOLDER].to_h do |file|
          path = File.join(FOLDER, file)
          [file.delete_suffix('.erb'), Tilt::ErubiTemplate.new(path, escape: true, default_encoding: 'UTF-8')]
        end.freeze
        private_constant :FOLDER, :TEMPLATES

        private

        # @param name [String] of a template, which calls methods of this object
        # @param locals [Hash{Symbol => Object}] its local variables
        # @return [String] HTML
        def render(name, locals: {}, &content)
          TEMPLATES.fetch(name).render(self, locals, &content)
        end
      end
    end
  end
end
