# frozen_string_literal: true

require 'erb'
require 'yaml'
require 'simpkv'
require 'simpkv/config/site_file'
require_relative 'configuration_manual'
require_relative 'gem_list'
require_relative 'house'
require_relative 'planted'

# Writes the generated pages: docs/configuration.md and docs/simpkv.yaml.5 from the definitions of the options,
# docs/simpkv.1 from the commands, REFERENCE.md from the docstrings of the functions, docs/runbook.md from what the code
# can report, docs/large-sites.md from the results of a benchmark, docs/maintainers/planted.md and the last table of
# docs/security.md from the planted defects, that of CONTRIBUTING.md from the rooms, the pages README.md of docs/adr
# from the titles of the records, lib/simpkv/gems.txt from the gems.
module Documentation
  ROOT = File.expand_path('..', __dir__)

  # The pages, and the methods that make them.
  PAGES = { 'docs/simpkv.1' => :manual, 'docs/simpkv.yaml.5' => :configuration_manual,
            'docs/configuration.md' => :configuration, 'docs/runbook.md' => :runbook,
            'docs/large-sites.md' => :large_sites,
            'docs/security.md' => :security, 'docs/maintainers/planted.md' => :planted,
            'CONTRIBUTING.md' => :contributing,
            'lib/simpkv/gems.txt' => :gems, 'REFERENCE.md' => :reference }
          .merge(['', *Dir['gems/*/', base: ROOT].sort].to_h do |gem|
            ["#{gem}docs/adr/README.md", [:decisions, "#{gem}docs/adr"]]
          end).freeze

  # The tables of docs/configuration.md.
  module Tables
    # @param options [Array<Simpkv::Config::Option>]
    # @return [String] a table of the options, and a table of their errors, if there are any
    def self.of(options)
      rows = options.map { |option| [code(option.name), Simpkv::Coercion.needed(option.type), default(option), option.text] }
      errors = options.flat_map { |option| option.errors.map { |error| [code(option.name), code(error)] } }
      [table(%w[option type default meaning], rows), *(table(%w[option error], errors) if errors.any?)].join("\n\n")
    end

    def self.table(head, rows)
      [head, head.map { '---' }, *rows].map { |cells| "| #{cells.join(' | ')} |" }.join("\n")
    end

    def self.default(option)
      option.default.nil? ? option.absent || 'none' : code(option.default.to_s.gsub('|', '\\|'))
    end

    def self.code(value)
      "`#{value}`"
    end
  end

  # @return [String] docs/configuration.md
  def self.configuration
    ERB.new(File.read(File.join(ROOT, 'docs', 'configuration.md.erb'), encoding: 'UTF-8')).result(binding)
  end

  # @return [String] docs/large-sites.md
  def self.large_sites
    require_relative 'large_sites'
    sites = LargeSites.new
    template = File.read(File.join(ROOT, 'docs', 'large-sites.md.erb'), encoding: 'UTF-8')
    ERB.new(template).result_with_hash(sites: sites)
  end

  # @return [String] lib/simpkv/gems.txt
  def self.gems
    GemList.text
  end

  # @return [String] docs/simpkv.1
  def self.manual
    roff(Manual.page)
  end

  # @return [String] docs/simpkv.yaml.5
  def self.configuration_manual
    roff(ConfigurationManual.of(configuration))
  end

  # @return [Hash{String => String}] the manual pages, and their Markdown, of kramdown
  def self.manuals
    { 'docs/simpkv.1' => Manual.page, 'docs/simpkv.yaml.5' => ConfigurationManual.of(configuration) }
  end

  # @param page [String] Markdown of kramdown
  # @return [String] the man page
  def self.roff(page)
    require 'kramdown/man'
    # An option that is broken at a hyphen cannot be copied.
    Kramdown::Document.new(page).to_man.sub(/^\.TH .*\n/) { |title| "#{title}.nr HY 0\n.ad l\n" }
  end

  # @return [String] docs/runbook.md
  def self.runbook
    require_relative 'runbook'
    Runbook.page
  end

  # @return [String] docs/security.md
  def self.security
    page = File.read(File.join(ROOT, 'docs', 'security.md'), encoding: 'UTF-8')
    rows = Planted.all(ROOT).select(&:promise).map do |plant|
      [plant.promise, plant.because, Tables.code(plant.test)]
    end
    page.sub(/^\| promise \|.*\z/m) { "#{Tables.table(['promise', 'planted defect', 'test that fails'], rows)}\n" }
  end

  # @return [String] docs/maintainers/planted.md
  def self.planted
    seams, promises = Planted.all(ROOT).partition(&:seam)
    template = File.read(File.join(__dir__, 'planted.md.erb'), encoding: 'UTF-8')
    ERB.new(template, trim_mode: '-').result(binding)
  end

  # @return [String] CONTRIBUTING.md, with the table of the rooms
  def self.contributing
    page = File.read(File.join(ROOT, 'CONTRIBUTING.md'), encoding: 'UTF-8')
    page.sub(/^\| gem \| room .*?\n(?=\n)/m) { "#{House.new(ROOT).table(hundreds: true)}\n" }
  end

  # @param folder [String] of records
  # @return [String] its README.md, a line for each record
  def self.decisions(folder)
    lines = Dir[File.join(ROOT, folder, '[0-9]*.md')].sort.map do |file|
      title, status = File.readlines(file, encoding: 'UTF-8', chomp: true).reject(&:empty?).first(2)
      number, text = title.match(/\A# (\d+)\. (.*)/).captures
      superseded = " (#{status[/superseded by [^.,]*\.md\)/i].downcase})" if status.start_with?('Superseded')
      "| [#{number}](#{File.basename(file)}) | #{text}#{superseded} |"
    end
    "# Decisions\n\n<!-- `rake docs` writes this page from the titles of the records. -->\n\n" \
      "| record | decision |\n| --- | --- |\n#{lines.join("\n")}\n"
  end

  # @return [String] REFERENCE.md
  def self.reference
    Reference.page
  end

  # The man page. rakelib/manual.md.erb is its Markdown, and kramdown-man, a gem of the group lint, makes roff of it.
  module Manual
    # @return [String] the page, in Markdown of kramdown
    def self.page
      require 'simpkv/cli/commands'
      template = File.read(File.join(__dir__, 'manual.md.erb'), encoding: 'UTF-8')
      sections = self.sections
      common = Simpkv::Cli::Command.new.switches.map { |switch| [switch.long, switch.desc] }
      ERB.new(template, trim_mode: '-').result(binding)
    end

    # @return [Array<Array(String, Array<Class>)>] the titles of the sections, and their commands
    def self.sections
      Simpkv::Cli::Commands.members.each_value.group_by(&:section).map do |section, members|
        commands = members.flat_map { |member| member.is_a?(Class) ? [member] : member.commands }
        [Simpkv::Cli::Group::SECTIONS.fetch(section), commands]
      end
    end

    # @return [String] Markdown that shows the text as it is
    def self.text(string)
      string.strip.gsub(/[\\.*_+`<>()\[\]{}#!:|"'$=-]/) { |letter| "\\#{letter}" }
    end

    # @param lines [String]
    # @return [String] Markdown for a block of code
    def self.code(lines)
      "~~~\n#{lines.rstrip}\n~~~"
    end

    # @param switch [OptionParser::Switch]
    # @return [String] an entry of a definition list
    def self.option(switch)
      names = (switch.short + switch.long).map { |name| "`#{name}`" }.join(', ')
      argument = " *#{switch.arg.delete('=').strip}*" if switch.arg
      "#{names}#{argument}\n: #{text(switch.desc.join(' '))}"
    end
  end

  # The classes, types, functions, tasks and plans of REFERENCE.md, by their docstrings. Puppet Strings, a gem of the
  # group lint, reads these with YARD. Its own page prints descriptions twice and includes private functions.
  module Reference
    # What is in the page, by its name in the template.
    KINDS = { functions: %i[puppet_function], resource_types: %i[puppet_type], tasks: %i[puppet_task],
              types: %i[puppet_class puppet_defined_type puppet_data_type_alias puppet_plan] }.freeze

    # @return [String] the page
    def self.page
      read
      template = File.read(File.join(__dir__, 'reference.md.erb'), encoding: 'UTF-8')
      scope = binding
      KINDS.each do |name, kinds|
        objects = YARD::Registry.all(*kinds).reject { |object| private?(object) }
        scope.local_variable_set(name, objects.sort_by { |object| object.name.to_s })
      end
      ERB.new(template, trim_mode: '-').result(scope)
    end

    def self.private?(object)
      object.type == :puppet_task ? object.statement.json['private'] : object.tag(:api)&.text == 'private'
    end

    # Fills YARD's registry.
    def self.read
      require 'puppet-strings'
      Dir.chdir(ROOT) do
        PuppetStrings.generate(Dir['lib/puppet/{functions,type}/**/*.rb', '{manifests,plans,types}/**/*.pp',
                                   'tasks/*.json'].sort,
                               yard_args: %w[--no-output --quiet --no-stats --no-save --no-cache])
      end
    end

    # @return [Array] the objects with a signature: each dispatch, or the function if it has one dispatch
    def self.signatures(function)
      function.has_tag?(:overload) ? function.tags(:overload) : [function]
    end

    # @return [Array<Array(String, String)>] names of exceptions, and their conditions
    def self.errors(function)
      signatures(function).flat_map { |signature| signature.tags(:raise) }.map { |tag| tag.text.split(/\s+/, 2) }.uniq
    end

    # @return [String] the anchor of the heading that is the name
    def self.anchor(object)
      object.name.to_s.downcase.delete(':')
    end
  end
end
