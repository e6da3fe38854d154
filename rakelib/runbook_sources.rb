# frozen_string_literal: true

require 'yaml'
require 'simpkv'
require 'simpkv/native/header'
require 'simpkv/query'
require 'simpkv/cli/failure'
require 'simpkv/server/problem'

# What the code can report, for {Runbook}: read from the sources, so that nothing can be forgotten.
module RunbookSources
  ROOT = File.expand_path('..', __dir__)

  # The names of classes from whose subclasses errors come that leave the library.
  BASES = %w[Simpkv::Error Simpkv::ConfigError].freeze

  # A call that reports a finding, up to its first argument. `ok` needs no remedy.
  FINDING = /(?:\bfindings\.(?:problem|warning|unknown|public_send)\(|\btrouble\()/.freeze

  # The first argument of such a call, which is the subject: a text, a constant, or a variable whose callers name it.
  SUBJECT = /\A(?:state, )?(?:(?<quote>['"])(?<text>.*?)\k<quote>|(?<constant>[A-Z]\w*)|(?<variable>what|why|error)\b)/
            .freeze
  private_constant :BASES, :FINDING, :SUBJECT

  class << self
    # @return [Hash{String => String}] the statuses of the core in their order, and their comments
    def statuses
      Simpkv::Native::Header.read.meanings
    end

    # @return [Array<String>] the errors that a caller of the library, the command or the service can meet, without the
    #   module Simpkv in their names
    def errors
      @errors ||= find_errors
    end

    # @return [Hash{String => String}] the meanings of the exit codes of the command
    def exit_codes
      Simpkv::Cli::Failure::MEANINGS.transform_keys(&:to_s)
    end

    # @param name [String] of an error
    # @return [Integer] the exit code of the command for it
    def exit_code(name)
      Simpkv::Cli::Failure.code_for(instance(name))
    end

    # @param name [String] of an error
    # @return [Integer] the status of HTTP for it
    def http_status(name)
      Simpkv::Server::Problem.of(instance(name)).status
    end

    # @param status [String] of HTTP
    # @return [String] its title
    def title(status)
      Simpkv::Server::Problem.new(status.to_i, '').title
    end

    # @return [Array<String>] the statuses of HTTP of all problems
    def http
      given = files('gems/simpkv-server/lib/simpkv/server/**/*.rb').flat_map do |file|
        File.read(file, encoding: 'UTF-8').scan(/(?:Problem\.new|super)\((\d{3})\b/).flatten
      end
      (given + errors.map { |name| http_status(name).to_s }).uniq.sort
    end

    # @return [Array<String>] the subjects of the findings of `simpkv doctor`; `...` stands for what differs
    def findings
      doctor = files('{lib,gems/*/lib}/simpkv/cli/{doctor/**/*,commands/doctor}.rb')
      doctor.flat_map { |file| subjects(File.read(file, encoding: 'UTF-8'), file) }.uniq.sort
    end

    # @return [Hash{String => Hash}] the alerts of examples/monitoring/alerts.yaml, by name
    def alerts
      @alerts ||= YAML.safe_load(File.read(File.join(ROOT, 'examples/monitoring/alerts.yaml'))).fetch('groups')
                      .flat_map { |group| group.fetch('rules') }.to_h { |rule| [rule.fetch('alert'), rule] }
    end

    private

    def find_errors
      found = BASES.dup
      all = files('{lib,gems/*/lib}/simpkv/**/*.rb').flat_map { |file| classes(file) }
      loop do
        more = all.select { |name, parent| !found.include?(name) && found.include?(resolve(name, parent, all)) }
        break if more.empty?

        found.concat(more.map(&:first))
      end
      found.map { |name| name.delete_prefix('Simpkv::') }.sort
    end

    def files(pattern)
      Dir[File.join(ROOT, pattern)].sort
    end

    # Follows the indentation, which rubocop checks.
    #
    # @return [Array<Array(String, String)>] the public classes of a file that have a parent: their names and its
    def classes(file)
      nesting = []
      found = File.foreach(file, encoding: 'UTF-8').map do |line|
        indentation, name, parent = line.match(/\A( *)(?:module|class) ([\w:]+)(?: < ([\w:]+))?/)&.captures
        next unless name

        nesting = nesting.first(indentation.length / 2) << name
        [nesting.join('::'), parent] if parent
      end
      hidden = File.read(file, encoding: 'UTF-8').scan(/private_constant (.*)/).flatten.join(',').scan(/:(\w+)/).flatten
      found.compact.reject { |name, _| hidden.include?(name[/\w+\z/]) }
    end

    # @return [String] the full name of a parent that a class names
    def resolve(name, parent, all)
      known = all.map(&:first) + BASES
      scopes = name.split('::')[0..-2]
      names = scopes.length.downto(0).map { |length| [*scopes.first(length), parent].join('::') }
      names.find { |full| known.include?(full) }
    end

    def instance(name)
      @loaded ||= files('{lib,gems/*/lib}/simpkv/{access,cli,query}/**/*.rb').each do |file|
        require file if File.read(file, encoding: 'UTF-8').match?(/^ +class \w+ < (?:\w+::)*\w*Error\b/)
      end
      name.split('::').inject(Simpkv) { |scope, part| scope.const_get(part, false) }.allocate
    end

    # @return [Array<String>] the subjects of the findings in a source
    # @raise [RuntimeError] if the subject of one cannot be found
    def subjects(source, file)
      calls = source.gsub(/^\s*#.*$/, '').split(FINDING).drop(1).map { |rest| rest.lstrip.match(SUBJECT) }
      raise "#{file}: write the subject of a finding as a text or a constant" if calls.any?(&:nil?)

      texts = calls.map { |call| call[:text] || constant(source, call[:constant]) }
      texts.concat(source.scan(/each_named\([^'\n]*'([^']+)'/).flatten)
      texts.compact.map { |text| text.gsub(/#\{.*\}/, '...') }
    end

    def constant(source, name)
      source[/#{name} = '(.*?)'/, 1] if name
    end
  end
end
