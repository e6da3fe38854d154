# frozen_string_literal: true

require 'digest/sha1'
require 'simpkv/server/body_json'
require 'simpkv/server/commands/deactivate_node'
require 'simpkv/server/commands/payload'
require 'simpkv/server/commands/replace_catalog'
require 'simpkv/server/commands/replace_facts'
require 'simpkv/server/commands/store_report'

module Simpkv
  module Server
    module Commands
      # A command, as PuppetDB's API has it: the payload in the body and the rest in the parameters; or all in the body,
      # which PuppetDB calls deprecated.
      class Submission
        COMMANDS = { 'replace facts' => ReplaceFacts, 'replace catalog' => ReplaceCatalog,
                     'store report' => StoreReport, 'deactivate node' => DeactivateNode }.freeze
        WAIT = 'secondsToWaitForCompletion'
        # The names of the parameters.
        PARAMETERS = ['command', 'version', 'certname', 'producer-timestamp', 'checksum', WAIT].freeze
        NUMBER = /\A\d{1,9}(?:\.\d{1,9})?\z/.freeze
        private_constant :COMMANDS, :WAIT, :NUMBER

        # @return [String] the name of the node, after {#command}
        attr_reader :certname

        # @param parameters [Hash{String => String}]
        # @raise [Problem] one is missing or wrong
        def initialize(parameters)
          @certname = parameters['certname']
          @checksum = parameters['checksum']
          @wait = parameters[WAIT]
          @name = parameters['command']
          check(parameters)
          return unless @name

          @type = type(@name, parameters['version'])
          raise Problem.new(400, 'certname: it is missing') unless @certname
        end

        # @return [Boolean] whether the answer is to say that the command is done
        def wait?
          !@wait.nil?
        end

        # Clients differ in what they make the checksum of: the body, the whole command, or the text that their language
        # makes of the payload. PuppetDB takes any.
        #
        # @param text [String] the body
        # @return [Boolean] whether there is a checksum, and it is of nothing that the service knows
        def other_checksum?(text)
          !@checksum.nil? && [text, enveloped(text)].compact.none? { |each| sum?(each) }
        end

        # @param text [String] the body
        # @return [ReplaceFacts, ReplaceCatalog, StoreReport, DeactivateNode]
        # @raise [Problem] it is malformed
        def command(text)
          data = BodyJson.parse(text)
          @type ? named(@type, data) : whole(Payload.new(data))
        end

        private

        def check(parameters)
          time = parameters['producer-timestamp']
          wrong('producer-timestamp', 'a time such as 2026-11-23T15:00:00.000Z') if time && Payload.time(time).nil?
          wrong(WAIT, 'a number of seconds') unless @wait.nil? || @wait.match?(NUMBER)
        end

        def wrong(name, words)
          raise Problem.new(400, "#{name}: it must be #{words}")
        end

        def type(name, version)
          type = COMMANDS[name.tr('_', ' ')]
          return type if type && version.to_s == type::VERSION.to_s

          taken = COMMANDS.map { |each, form| "'#{each}' in version #{form::VERSION}" }
          raise Problem.new(400, "command and version: this service takes #{taken.join(', ')}")
        end

        def sum?(text)
          Digest::SHA1.hexdigest(text) == @checksum.downcase
        end

        # PuppetDB's documentation says that a checksum is one of the payload. Its terminus sends one of the object that
        # would be the whole body in the deprecated form.
        def enveloped(text)
          return unless @name

          rest = { 'command' => @name.tr('_', ' '), 'version' => @type::VERSION, 'certname' => @certname }
          "#{Native.generate(rest).chomp('}')},\"payload\":#{text}}"
        end

        def whole(envelope)
          @certname = envelope.text('certname', null: true) || @certname
          named(type(envelope.text('command'), envelope.integer('version')), envelope.data['payload'])
        end

        def named(type, data)
          payload = Payload.new(data)
          name = payload.text('certname')
          @certname ||= name
          return type.new(payload) if name == @certname

          raise Problem.new(400, 'certname: the payload must have the one of the parameters')
        end
      end
    end
  end
end
