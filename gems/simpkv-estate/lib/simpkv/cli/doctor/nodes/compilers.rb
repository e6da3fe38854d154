# frozen_string_literal: true

require 'simpkv/cli/output'
require 'simpkv/status/compilers'

module Simpkv
  module Cli
    module Doctor
      module Nodes
        # Compares the files of keys of the compilers that store their counters, by fingerprint, and looks at what they
        # have dropped.
        class Compilers
          WHAT = 'keys of compilers'
          HERE = 'this machine'
          private_constant :WHAT, :HERE

          # @param subject [Subject]
          def initialize(subject)
            @estate = subject.estate
            @findings = subject.findings
          end

          # @return [void]
          # @raise [Simpkv::Error] not all counters can be read
          def perform
            all = Status::Compilers.of(@estate)
            look_at_dropped(Status::Compilers.dropped(all))
            compilers = all.select { |compiler| compiler.key?('keys') }
            return if compilers.empty?

            here = { 'name' => HERE, 'keys' => Estate::KeyFingerprints.of(@estate.backends) }
            different = Status::Compilers.differing_keys([*compilers, here])
            return @findings.ok(WHAT, "#{Output.count(compilers.length, 'compiler')} with the same") if different.empty?

            different.each { |backend, prints| report(backend, prints) }
          end

          private

          def look_at_dropped(compilers)
            return if compilers.empty?

            @findings.warning('dropped reports',
                              "compilers could not store what runs reported: #{compilers.join(', ')}",
                              'repair the server of writes. The next run of each node stores what it has then')
          end

          def report(backend, prints)
            @findings.warning(WHAT, "the files of keys of the backend '#{Output.name(backend)}' differ: " \
                                    "#{Output.name(Status::Compilers.list(prints))}",
                              'copy the file that has all keys to the others: simpkv keys list names its keys')
          end
        end
      end
    end
  end
end
