# frozen_string_literal: true

require 'simpkv/termini'
require 'simpkv/termini/filter'
require 'simpkv/termini/resources'

module Simpkv
  module Termini
    # The exported resources that one compiler can collect. Puppet searches for each collector at least twice: a
    # collection reads a type once, and makes each resource once.
    class Collection
      # The compiler's variable that holds it.
      KEPT = :@simpkv_collection
      private_constant :KEPT

      # @param compiler [Puppet::Parser::Compiler]
      # @return [Collection] the one of the compiler
      def self.of(compiler)
        compiler.instance_variable_get(KEPT) || compiler.instance_variable_set(KEPT, new)
      end

      # Reads all exported resources of a type.
      #
      # @param type [String]
      # @param host [String, nil] the node that collects them, and whose own are left out
      # @return [Array<Array(String, Array<Hash>)>] the node's name and its resources, sorted by name; none if the
      #   backend fails and the option `soft` is set
      # @raise [Puppet::Error]
      def self.read(type, host = nil)
        step = "collect the exported resources of type '#{type}'"
        exports = Termini.perform(step, otherwise: {}, node: host) do |estate|
          estate.exports.all(type.downcase, except: host, strict: true) { |key, why| Termini.malformed(key, why) }
        end
        exports.sort
      end

      # Restores a resource. The option `skip_undecodable` leaves out one that cannot be restored, with a warning.
      #
      # @param type [String]
      # @param certname [String] the node that exports it
      # @param data [Hash]
      # @return [Object, nil] what the block returns
      # @raise [Puppet::Error] it cannot be restored
      def self.readable(type, certname, data)
        yield
      rescue MalformedError, Puppet::Error # Its message may quote values.
        resource = "#{type}[#{data['title']}] of '#{certname}'"
        return Termini.left_out(resource) if Termini.estate.options['skip_undecodable']

        raise Puppet::Error, "simpkv estate: could not collect #{resource}: it has a value that cannot be read, or " \
                             'that simpkv does not restore', cause: nil
      end

      def initialize
        @exports = {}
        @made = {}
      end

      # @param type [String] as in a reference, such as `Nginx::Vhost`
      # @param host [String] the node of the compiler, whose own resources are left out
      # @param filter [Array, nil] see {Filter}
      # @param scope [Puppet::Parser::Scope] the collector's
      # @return [Array<Puppet::Parser::Resource>]
      # @raise [Puppet::Error] also if two nodes, or the catalog and a node, have a resource of one title
      def search(type, host, filter, scope)
        filter = Filter.new(filter)
        resource_type = Puppet::Pops::Evaluator::Runtime3ResourceSupport.find_resource_type(scope, type)
        exports = @exports[type] ||= Collection.read(type, host)
        found = exports.flat_map do |certname, list|
          list.map do |data|
            Collection.readable(type, certname, data) do
              filter.match?(data) ? make(resource_type, type, certname, data, scope) : nil
            end
          end
        end
        found.compact.tap { |resources| refuse_duplicates(resources, scope) }
      end

      private

      # Puppet would refuse them as well, without the names of the nodes.
      def refuse_duplicates(resources, scope)
        resources.group_by(&:ref).each do |ref, same|
          there = scope.findresource(same.first.resource_type, same.first.title)
          claimants = [there, *same].compact.uniq(&:collector_id)
          next if claimants.length == 1

          raise Puppet::ParseError, 'A duplicate resource was found while collecting exported resources, with the ' \
                                    "type and title #{ref}: #{claimants.map { |each| origin(each) }.join(', ')}. " \
                                    "Give each a title of its own, such as one with the node's name, or collect one"
        end
      end

      def origin(resource)
        certname = resource.collector_id&.split('|')&.first
        return "'#{certname}' exports it" if certname

        "this catalog declares it#{" at #{resource.file}:#{resource.line}" if resource.file}"
      end

      def make(resource_type, type, certname, data, scope)
        id = "#{certname}|#{type}|#{data['title']}"
        @made[id] ||= Resources.collected(resource_type, data, scope, id)
      end
    end
  end
end
