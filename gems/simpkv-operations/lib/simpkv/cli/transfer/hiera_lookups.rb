# frozen_string_literal: true

require 'rbconfig'
require 'simpkv/cli/data_file'
require 'simpkv/cli/failure'
require 'simpkv/cli/output'

module Simpkv
  module Cli
    # Looks keys up as a compiler does, through the Hiera of this Ruby's Puppet, with any hiera.yaml.
    class HieraLookups
      # @param environment [String] the name that %{environment} has
      # @param node [String] the certname
      # @param facts [String, nil] a file with the facts of the node, such as the output of `puppet facts`
      # @param modulepath [String, nil] nil for that of the environment
      # @raise [Failure] this Ruby has no Puppet
      def initialize(environment, node, facts, modulepath)
        load_puppet
        @environment = environment
        @node = node
        @facts = facts ? facts(facts) : {}
        @modulepath = modulepath ? modulepath.split(File::PATH_SEPARATOR) : default_modulepath
      end

      # @param file [String] a hiera.yaml
      # @param keys [Array<String>]
      # @return [Hash{String => Array(Object), Symbol}] for each key a list with its value, :missing or :failed
      def results(file, keys)
        hash_of(file)
        before = Puppet[:hiera_config]
        Puppet[:hiera_config] = File.expand_path(file)
        in_a_catalog { |scope| keys.to_h { |key| [key, result(key, scope)] } }
      ensure
        Puppet[:hiera_config] = before if before
      end

      private

      def load_puppet
        require 'puppet'
        Puppet.initialize_settings unless Puppet.settings.global_defaults_initialized?
      rescue LoadError => e
        raise Failure.new("'#{RbConfig.ruby}' cannot load Puppet, which --compare needs: #{e.message}. Install the " \
                          'gem simpkv for the Ruby of Puppet, and call the command there', Failure::CONFIG), cause: nil
      end

      def facts(file)
        facts = hash_of(file)
        facts['values'].is_a?(Hash) ? facts['values'] : facts
      end

      def hash_of(file)
        data = DataFile.read(file)
        data.is_a?(Hash) ? data : raise(Failure.new("file '#{Output.name(file)}' has no Hash", Failure::DATA))
      end

      def default_modulepath
        Puppet.lookup(:environments).get(@environment.to_sym)&.modulepath ||
          Puppet[:basemodulepath].split(File::PATH_SEPARATOR)
      end

      # No hiera.yaml of an environment takes part: the given one has the place of the global one.
      def in_a_catalog
        environment = Puppet::Node::Environment.create(@environment.to_sym, @modulepath)
        place = { environments: Puppet::Environments::Static.new(environment), current_environment: environment }
        Puppet.override(place, 'simpkv import-eyaml') do
          compiler = Puppet::Parser::Compiler.new(node(environment))
          compiler.compile
          compiler.with_context_overrides('simpkv import-eyaml') { yield compiler.topscope }
        end
      end

      def node(environment)
        node = Puppet::Node.new(@node, environment: environment, facts: Puppet::Node::Facts.new(@node, @facts),
                                       parameters: @facts.merge('clientcert' => @node))
        node.trusted_data = Puppet::Context::TrustedInformation.local(node).to_h
        node
      end

      # The message of an error may show a value.
      def result(key, scope)
        name = key.include?('.') ? "'#{key}'" : key
        invocation = Puppet::Pops::Lookup::Invocation.new(scope)
        value = Puppet::Pops::Lookup.lookup(name, nil, :missing, true, nil, invocation)
        value == :missing ? value : [value]
      rescue StandardError, LoadError
        :failed
      end
    end
  end
end
