# frozen_string_literal: true

require 'simpkv/inspection'

module Simpkv
  module Termini
    # The actions that a site adds to those of inspection rules. A file's last expression is an object with the method
    # `call(certname, arguments)`:
    #
    #     lambda do |certname, arguments|
    #       File.write("/srv/announced/#{certname}", arguments['text'])
    #     end
    #
    # Constants of a file are its own.
    class SiteActions
      # An object of a file, and the version of the file.
      Loaded = Struct.new(:version, :action)
      LOADED = {} # rubocop:disable Style/MutableConstant
      MUTEX = Mutex.new
      private_constant :Loaded, :LOADED, :MUTEX

      # @param rule [Hash] of the outcome of an inspection
      # @return [String] words for it
      def self.named(rule)
        "the rule #{rule['uuid']}#{" ('#{rule['description']}')" if rule['description']}"
      end

      # @param environment [Puppet::Node::Environment]
      def initialize(environment)
        @files = Inspection::ActionFiles.new(environment.modulepath, Puppet[:libdir].to_s.split(File::PATH_SEPARATOR))
      end

      # @param estate [Estate]
      # @return [Inspection::Inspector, nil] see {Inspection::Inspector.of}
      # @raise [InvalidError] a rule is invalid; the message says where an unknown action was looked for
      # @raise [Error]
      def inspection(estate)
        Inspection::Inspector.of(estate, @files.names)
      rescue InvalidError => e
        raise InvalidError, @files.explained(e.message), cause: nil
      end

      # Carries an action out.
      #
      # @param name [String]
      # @param certname [String]
      # @param arguments [Array, Hash]
      # @param rule [Hash] of the outcome of an inspection
      # @return [void]
      # @raise [Error] the file cannot be evaluated, or the action failed: names it, the rule and the error, which is
      #   left out for a sensitive rule
      def perform(name, certname, arguments, rule)
        action(name).call(certname, arguments)
      rescue StandardError, ScriptError => e
        why = rule['sensitive'] ? 'the rule is sensitive, so the reason is not shown' : "#{e.class}: #{e.message}"
        raise PluginError, "the action '#{name}' of #{SiteActions.named(rule)} failed: #{why}", cause: nil
      end

      private

      def action(name)
        place = "#{Inspection::ActionFiles::FOLDER}/#{name}.rb"
        file = @files.file(name) || raise(LoadError, "its file #{place} has vanished")
        MUTEX.synchronize do
          version = File.stat(file).then { |stat| [stat.mtime, stat.size, stat.ino] }
          load(file, version) unless LOADED[file]&.version == version
          LOADED.fetch(file).action
        end
      end

      def load(file, version)
        # Environments come and go on a server that runs for long.
        LOADED.delete_if { |other, _| !File.exist?(other) }
        LOADED[file] = Loaded.new(version, evaluate(file))
      end

      def evaluate(file)
        action = Module.new.module_eval(File.read(file), file)
        raise TypeError, "#{file}: the last expression has no method 'call'" unless action.respond_to?(:call)

        action
      end
    end
  end
end
