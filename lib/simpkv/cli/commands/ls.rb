# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/value'
require 'simpkv/cli/versioned'
require 'simpkv/cli/walk'

module Simpkv
  module Cli
    module Commands
      # Prints the names in a folder.
      class Ls < Command
        include Versioned

        SECTION = :keys
        SUMMARY = 'print the names in a folder (or simpkv list)'
        SUGGEST_FOR = { 'dir' => 'ls' }.freeze
        ARGUMENTS = '[FOLDER]'
        DESCRIPTION = <<~TEXT
          Prints the names of the keys and folders in a folder. A slash follows the name of a folder. Prints no
          values, and no keys that have expired, unless --expired is given. With -l, a header names the columns: the
          type of the value, the size of the document in bytes, the number of metadata entries, the expiry time if any
          of the keys has one, and the name. If keys cannot be read, lists them on standard error and exits with 65;
          with -l, this includes keys with corrupt documents. simpkv list is the same command.
        TEXT
        EXAMPLES = {
          'simpkv ls' => 'The environment production',
          'simpkv ls -l app1' => 'With types and sizes',
          "simpkv ls -e '' " => 'The environments',
          'simpkv ls -g hosts -o json' => 'For a program',
          'simpkv ls -l --expired app1' => 'With keys that have expired'
        }.freeze

        def run(folder = '')
          @faults = {}
          listing = valid(about_folder(folder) { listed(folder) })
          keys = listing[:keys].map { |name, summary| [Output.name(name), summary] }.sort_by(&:first).to_h
          folders = listing[:folders].map { |name| Output.name(name) }.sort
          output.print('keys' => @long ? keys : keys.keys, 'folders' => folders) do
            @long ? long(keys, folders) : folders.map { |name| "#{name}/" } + keys.keys
          end
          report(@faults.merge(listing[:errors]))
        end

        private

        def define(parser)
          parser.on('-l', '--long', 'print types and sizes too') { @long = true }
          parser.on('--expired', 'print keys that have expired, too') { @expired = true }
        end

        def long(keys, folders)
          columns = columns(keys)
          described = folders.to_h { |name| ["#{name}/", { 'type' => 'folder' }] }.merge(keys)
          rows = described.map { |name, summary| [*columns.map { |column| summary[column] || '-' }, name] }
          rows.empty? ? [] : Output.table([[*columns, 'name'], *rows])
        end

        def columns(keys)
          expires = keys.each_value.any? { |summary| summary.key?('expires') }
          ['type', 'bytes', 'metadata', *('expires' if expires)]
        end

        # The root folder of an environment may be missing. It is empty then.
        def listed(folder)
          path = path_of(folder)
          required = path != backend.prefix
          describe = ->(name, document) { described(name, document) if @long }
          return reading.list(path, required: required, &describe) if @expired

          list_live(reading, path, required: required, &describe)
        end

        # @return [Hash] a list in which names that no key or folder can have are among the errors
        def valid(listing)
          refused = Walk.refused(listing[:keys].keys + listing[:folders])
          { keys: listing[:keys].reject { |name, _| refused.key?(name) }, folders: listing[:folders] - refused.keys,
            errors: listing[:errors].merge(refused) }
        end

        # Notes why functions cannot read a document, if they cannot.
        def described(name, document)
          why = fault(document)
          @faults[name] = why if why
          Value.summary(document)
        end

        def fault(document)
          backend.check_form(document)
          StoredForm.fault(document)
        rescue MalformedError => e
          e.message
        end
      end
    end
  end
end
