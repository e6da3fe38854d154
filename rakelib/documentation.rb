# frozen_string_literal: true

require 'erb'
require 'simpkv/config'

# The pages that are made, not written: docs/configuration.md from the definitions of the options, docs/simpkv.1 from
# the commands, REFERENCE.md from the docstrings of the functions.
module Documentation
  ROOT = File.expand_path('..', __dir__)

  # What is in docs/configuration.md.erb besides text.
  module Tables
    # @param options [Array<Simpkv::Config::Option>]
    # @return [String] a table of them, and one of the errors that they can cause
    def self.of(options)
      rows = options.map { |option| [code(option.name), Simpkv::Coercion.needed(option.type), default(option), option.text] }
      errors = options.flat_map { |option| option.errors.map { |error| [code(option.name), code(error)] } }
      [table(%w[option type default meaning], rows), table(['option', 'what an error of it says'], errors)].join("\n\n")
    end

    def self.table(head, rows)
      [head, head.map { '---' }, *rows].map { |cells| "| #{cells.join(' | ')} |" }.join("\n")
    end

    def self.default(option)
      option.default.nil? ? option.absent || 'none' : code(option.default)
    end

    def self.code(value)
      "`#{value}`"
    end
  end

  # @return [String] docs/configuration.md
  def self.configuration
    ERB.new(File.read(File.join(ROOT, 'docs', 'configuration.md.erb'), encoding: 'UTF-8')).result(binding)
  end

  # @return [String] docs/simpkv.1
  def self.manual
    require 'simpkv/cli'
    require 'simpkv/cli/manual'
    Simpkv::Cli::Manual.roff
  end

  # Writes REFERENCE.md. Puppet Strings is a gem of the group lint.
  #
  # @param file [String] where to
  def self.write_reference(file)
    require 'puppet-strings'
    Dir.chdir(ROOT) do
      PuppetStrings.generate(Dir['lib/puppet/functions/**/*.rb'].sort, markdown: true, path: file,
                                                                       yard_args: %w[--no-stats --no-save --no-cache])
    end
  end
end
