# frozen_string_literal: true

require 'simpkv/cli/estate/configured_estate'
require 'simpkv/cli/owners'

module Simpkv
  module Cli
    module Owners
      # The estate: see {Simpkv::Estate}, and {Owners} for the methods.
      class Estate
        PLAIN = 'it is plain, though the estate records that it is encrypted: look at what it holds. Then delete it, ' \
                'or encrypt it with --accept-plain'
        private_constant :PLAIN

        # @param (see Simpkv::Estate.check)
        # @raise (see Simpkv::Estate.check)
        def self.check(settings, store)
          Simpkv::Estate.check(settings, store)
        end

        def initialize(configuration, backend)
          @configured = ConfiguredEstate.new(configuration)
          @backend = backend
        end

        # @return [Simpkv::Estate::Completeness]
        def completeness(roots, decrypt)
          Simpkv::Estate::Completeness.new(roots, decrypt, demanded: @configured.demanded?(@backend))
        end

        # @param incomplete [Boolean] whether to give up what lost folders held
        # @param unpin [Boolean] whether processes may differ in `encrypt` from now on
        # @return [String]
        def make(incomplete:, unpin:)
          name = @configured.backend
          return "is in the backend '#{name}': run simpkv init --backend #{name}" unless name == @backend.name

          estate = @configured.in(@backend)
          estate.unpin if unpin
          changes_of(estate.make(incomplete: incomplete))
        end

        # @return [String, nil]
        # @raise [ConfigError] its processes must have another `encrypt`
        def refusal
          here = estate
          PLAIN if here && @backend.settings['encrypt'] == 'all' && here.pinned?
        end

        # @return [void]
        def rekeyed
          estate&.pin
        end

        private

        # @return [Simpkv::Estate, nil] nil if there is none in the backend
        def estate
          return unless @configured.backend == @backend.name

          @estate ||= @configured.in(@backend).tap(&:store) unless @backend.store.kind(Simpkv::Estate::FOLDER).nil?
        end

        # @param changed [Array<String>] folders, and documents of exports
        # @return [String]
        def changes_of(changed)
          given_up, made = changed.sort.partition { |name| name.count('/') > 1 }
          texts = { 'was made' => made, 'gave up' => given_up }.reject { |_, names| names.empty? }
          texts.empty? ? 'already exists' : texts.map { |text, names| "#{text}: #{names.join(', ')}" }.join('; ')
        end
      end
    end
  end
end
