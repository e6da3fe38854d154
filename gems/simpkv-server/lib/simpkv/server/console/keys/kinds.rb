# frozen_string_literal: true

require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # How the values of a key are stored, in words.
        class Kinds
          # What the audit log will have about a person who looks at a value, by the member `audit` of a description;
          # and what it has then.
          BEFORE = {
            'reads' => 'The audit log records who looks at a value.',
            'writes' => 'The audit log of this backend has writes only: it does not record who looks at a value ' \
                        '(the option reads of audit does that).',
            'none' => 'This backend has no audit log: nobody can tell later who has looked at a value (option audit).'
          }.freeze
          AFTER = {
            'reads' => 'The audit log has a line about it, which names you',
            'writes' => 'It was not recorded: the audit log of this backend has writes only.',
            'none' => 'It was not recorded: this backend has no audit log.'
          }.freeze
          TYPED = 'A form has plain data only. Manifests will get these parts of the value and its metadata as plain ' \
                  'data, which have types of Puppet now'
          HIDDEN = 'The stored metadata have secrets, which are not shown here. What you enter replaces all metadata.'
          private_constant :BEFORE, :AFTER, :TYPED, :HIDDEN

          # @param description [Hash] of the API
          def initialize(description)
            @description = description
          end

          # @return [String] what happens when a person looks at a value
          def before
            BEFORE.fetch(@description['audit'])
          end

          # @param caller [Caller]
          # @return [String] what has happened
          def after(caller)
            @description['audit'] == 'reads' ? "#{AFTER['reads']} #{caller}." : AFTER.fetch(@description['audit'])
          end

          # @param version [Hash] of a description; or a description, for the chosen version
          # @return [String]
          def of(version)
            kind = version['encoding'] ? 'bytes' : 'text or data'
            version['sensitive'] ? "Sensitive #{kind}" : kind
          end

          # @param form [ValueForm]
          # @return [Array<String>] what the form cannot keep
          def losses(form)
            types = @description['puppet_types']
            hidden = @description['metadata_hidden'] && form.metadata.empty?
            [*("#{TYPED} (#{types.join(', ')})." if types), *(HIDDEN if hidden)]
          end
        end
      end
    end
  end
end
