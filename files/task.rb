# frozen_string_literal: true

require 'json'
require 'open3'
require 'securerandom'

# The tasks of the module: each runs a command of simpkv with `-o json`, and prints what Bolt expects of a task. Values
# go to the command on its standard input, because every user of the machine can read its arguments. They come back in
# `_sensitive`, which Bolt neither prints nor logs. An error has the message of the command, which holds no values.
class SimpkvTask
  # The end of the kind of an error, by the exit code of the command (sysexits).
  KINDS = { 64 => 'usage', 65 => 'data', 66 => 'not-found', 69 => 'unavailable', 74 => 'io', 75 => 'temporary',
            77 => 'no-permission', 78 => 'config', 127 => 'not-installed' }.freeze

  # Parameters of all tasks, and the options of the command that they become.
  COMMON = { 'config' => '--config', 'backend' => '--backend', 'environment' => '--environment',
             'global' => '--global' }.freeze

  # The times that a document may have, which are no secrets.
  TIMES = %w[stored_at expires].freeze

  # What a command has printed, and how it has ended.
  Outcome = Struct.new(:data, :messages, :code)

  # An error, as Bolt shows it.
  class Failure < StandardError
    attr_reader :code, :data, :kind

    # @param data [Hash] what the task found out nevertheless
    def initialize(message, code, data: {}, kind: KINDS.fetch(code, 'failed'))
      super(message)
      @code = code
      @data = data
      @kind = kind
    end
  end

  # @param parameters [Hash{String => Object}] of the task, with those that Bolt adds
  # @return [Array(Hash, Integer)] the result for Bolt, and the exit code
  def self.run(parameters)
    [new(parameters).public_send(parameters.fetch('_task').split('::').last), 0]
  rescue Failure => e
    error = { 'kind' => "simpkv/#{e.kind}", 'msg' => e.message, 'details' => { 'exitcode' => e.code } }
    [e.data.merge('_error' => error), e.code]
  end

  def initialize(parameters)
    @parameters = parameters
  end

  def get
    options = options('version' => '--version', 'expired' => '--expired')
    document = done(simpkv('get', options, @parameters['key']))
    return document if @parameters['show']

    { 'key' => @parameters['key'], **document.slice(*TIMES, 'warnings'), '_sensitive' => document }
  end

  def stat
    key = @parameters['key']
    document = done(simpkv('get', options('expired' => '--expired'), key))
    # The log lists the current value, too.
    versions = simpkv('log', options({}), key)
    done(versions)
    raise Failure.new('the command printed no list of versions', 70) unless versions.data.is_a?(Array)

    text = document['value'].is_a?(String) && !document['encoding']
    { 'key' => key, 'text' => text, 'sensitive' => document.fetch('sensitive', false),
      'earlier' => versions.data.length - 1, **document.slice(*TIMES, 'warnings') }
  end

  def put
    text, kind = value
    return present if noop?

    options = options('sensitive' => '--sensitive', 'keep_metadata' => '--keep-metadata', 'history' => '--history',
                      'expires_after' => '--expires-after', 'unless_earlier' => '--unless-earlier')
    options += ['--metadata', JSON.generate(@parameters['metadata'])] if @parameters['metadata']
    options << '--no-sensitive' if @parameters['sensitive'] == false
    # The command refuses an empty standard input.
    return done(simpkv('put', [*kind, *options], @parameters['key'], '')) if text.empty?

    done(simpkv('put', [*kind, *options, '--file', '-'], @parameters['key'], input: text))
  end

  def secret
    names = %w[format cost part kind length alphabet words expires_after]
    options = options(names.to_h { |name| [name, "--#{name.tr('_', '-')}"] })
    made = done(simpkv('secret get', options, @parameters['key']))
    return made if @parameters['show']

    { **made.slice('key', 'warnings'), '_sensitive' => made.slice('secret', 'encoding') }
  end

  def forget
    done(simpkv('forget', options('keep' => '--keep'), @parameters['key']))
  end

  def list
    done(simpkv('ls', options('long' => '--long', 'expired' => '--expired'), *@parameters['folder']))
  end

  def doctor
    options = options('list_size' => '--list-size', 'user' => '--user')
    options << '--read-only' if noop? || @parameters['read_only']
    outcome = simpkv('doctor', options, *@parameters['folder'])
    return done(outcome) unless outcome.data.is_a?(Array)

    problems = outcome.data.select { |finding| finding['state'] == 'problem' }
    judged(outcome, { 'findings' => outcome.data }, 'problems', problems.map { |finding| finding['what'] })
  end

  def status
    options = options('timeout' => '--timeout')
    options += ['--parts', @parameters['parts'].join(',')] if @parameters['parts']
    outcome = simpkv('status', options)
    data = outcome.data
    return done(outcome) unless data.is_a?(Hash)

    serious = data['alerts'].select { |alert| alert['level'] == data['state'] && alert['level'] != 'warning' }
    judged(outcome, data, data['state'], serious.map { |alert| alert['text'] })
  end

  private

  def noop?
    @parameters['_noop']
  end

  # Makes options of parameters that are set.
  #
  # @param names [Hash{String => String}] option by parameter
  # @return [Array<String>]
  def options(names)
    COMMON.merge(names).flat_map do |name, option|
      value = @parameters[name]
      next [] if value.nil? || value == false

      value == true ? [option] : [option, value.to_s]
    end
  end

  # @return [Array(String, Array<String>)] the value as the command reads it, and the options that say what it is
  def value
    given, length, base64 = @parameters.values_at('value', 'generate', 'base64')
    raise Failure.new("give either 'value' or 'generate', not both", 64) if given.nil? == length.nil?
    raise Failure.new("'base64' describes 'value', and there is none", 64) if length && base64
    return [bytes(given), ['--binary']] if base64
    return [given, []] if given.is_a?(String)

    length ? [SecureRandom.alphanumeric(length), []] : [JSON.generate(given), ['--json']]
  end

  # @return [String] of a value in Base64
  def bytes(given)
    given.unpack1('m0')
  rescue ArgumentError, NoMethodError
    raise Failure.new("'value' is not Base64, as 'base64' says", 65), cause: nil
  end

  # @return [Hash] what a run with noop can say of a put
  def present
    found = simpkv('exists', options({}), @parameters['key'])
    done(found) unless found.code == 1 && found.data
    { 'key' => @parameters['key'], 'written' => false, 'exists' => found.data['exists'] }
  end

  # @param outcome [Outcome]
  # @return [Hash] what the command printed
  # @raise [Failure] it has failed, or printed no object
  def done(outcome)
    data = outcome.data.is_a?(Hash) ? outcome.data : {}
    if outcome.code.zero? && outcome.data.nil?
      raise Failure.new('the command printed no JSON: is it of this module\'s version?', 70)
    end

    if outcome.code.positive?
      message = outcome.messages.empty? ? 'the command failed' : outcome.messages.join("\n")
      raise Failure.new(message, outcome.code, data: data)
    end
    outcome.messages.empty? ? data : data.merge('warnings' => outcome.messages)
  end

  # @param data [Hash] the result
  # @param kind [String] of the error
  # @param complaints [Array<String>]
  # @return [Hash] the result
  # @raise [Failure] there are complaints
  def judged(outcome, data, kind, complaints)
    return data if complaints.empty?

    raise Failure.new("#{kind}: #{complaints.uniq.join(', ')}", outcome.code, data: data, kind: kind)
  end

  # Runs a command. Its operands stand behind `--`, so that none of them is taken for an option.
  #
  # @return [Outcome]
  def simpkv(command, options, *operands, input: '')
    words = [*command.split, '--output', 'json', *options, '--', *operands]
    raise Failure.new('a parameter contains a NUL character', 64) if words.any? { |word| word.include?("\0") }

    out, err, status = Open3.capture3('simpkv', *words, stdin_data: input, binmode: true)
    messages = err.force_encoding(Encoding::UTF_8).scrub.lines(chomp: true).map { |line| line.delete_prefix('simpkv: ') }
    Outcome.new(parsed(out), messages, status.exitstatus || (128 + status.termsig))
  rescue Errno::ENOENT
    raise Failure.new('there is no command simpkv on this machine: install the gem or the package simpkv', 127),
          cause: nil
  end

  # @return [Object, nil] nil if this is not JSON
  def parsed(text)
    JSON.parse(text)
  rescue JSON::ParserError
    nil
  end
end

result, code = SimpkvTask.run(JSON.parse($stdin.read))
puts JSON.generate(result)
exit code
