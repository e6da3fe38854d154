# frozen_string_literal: true

require 'shellwords'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # The key or the folder of a page, its environment and its backend; and the addresses of pages about it, which
        # name all of these.
        class Place
          # The environment of a page whose address names none, as for the API.
          DEFAULT = 'production'
          NO = %w[false 0 no].freeze
          private_constant :DEFAULT, :NO

          # @return [Array<String>] the folders, and the key, if it is one
          attr_reader :segments

          # @return [String, nil] nil for the global keys
          attr_reader :environment

          # @return [String, nil] the name of the backend; nil for the default one
          attr_reader :backend

          # @param segments [Array<String>]
          # @param folder [Boolean]
          # @param given [Hash{String => String, nil}] the parameters `environment`, `global` and `backend`
          def initialize(segments, folder, given)
            @segments = segments
            @folder = folder
            @environment = given['environment'] || DEFAULT unless given['global'] && !NO.include?(given['global'])
            @backend = given['backend']
          end

          # @return [Boolean]
          def folder?
            @folder
          end

          # @return [Boolean] whether it is the folder above all others
          def root?
            segments.empty?
          end

          # @return [String] as manifests write it
          def name
            segments.join('/')
          end

          # @return [String] of the environment, or for the global keys
          def title
            environment ? "environment #{environment}" : 'global keys'
          end

          # @return [String] the words after `simpkv log`, for a shell
          def operands
            where = environment ? ['-e', environment] : ['-g']
            Shellwords.join([*where, *(['-b', backend] if backend), '--', name])
          end

          # @return [Hash{Symbol => String}] the parameters that name the environment and the backend
          def scope
            { environment: environment, global: ('true' unless environment), backend: backend }.compact
          end

          # @return [String] the path of the key or the folder in the API, escaped
          def api_path
            path('v1', 'keys')
          end

          # @return [String] what a right to it names: its path in the API, the environment and the backend
          def right
            named = ["the #{title}", ("the backend #{backend}" if backend)].compact.join(' and ')
            "#{"/v1/keys/#{name}".chomp('/')}#{'/**' if folder?} in #{named}"
          end

          # @return [String] the path of its page, escaped
          def page_path
            path('keys')
          end

          # @return [String] the address of its page
          def url(**more)
            "#{page_path}?#{Rack::Utils.build_query(scope.merge(more).compact)}"
          end

          # @return [Place] the folder around it
          def parent
            dup.moved(segments[0...-1], true)
          end

          # @param name [String] of a folder or key in this folder
          # @return [Place]
          def below(name, folder:)
            dup.moved([*segments, *name.split('/')], folder)
          end

          # @return [Array<Place>] the folders on the way, the first one without a name
          def folders
            count = folder? ? segments.length : segments.length - 1
            (0..count).map { |length| dup.moved(segments.first(length), true) }
          end

          protected

          def moved(segments, folder)
            @segments = segments
            @folder = folder
            self
          end

          private

          def path(*before)
            "#{Api.path(*before, *segments)}#{'/' if folder?}"
          end
        end
      end
    end
  end
end
