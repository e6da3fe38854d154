# frozen_string_literal: true

module Simpkv
  module Access
    # The roles that give rights on a key, as they are declared: a pure function of the state.
    class Explanation
      # role:: its name
      # folder:: the prefix that has the key in it
      # rights:: on that prefix; nil for a role that existed before, whose rights simpkv does not know
      # users:: names
      # groups:: DNs
      Row = Struct.new(:role, :folder, :rights, :users, :groups)

      # The path of a key or a folder, as errors name it.
      PATH = %r{\A(?:globals|environments/[^/]+)(?:/[^/]+)*\z}.freeze
      private_constant :PATH

      # @param text [String]
      # @return [Boolean] whether it is a path
      def self.path?(text)
        text.match?(PATH)
      end

      # @param state [State::Snapshot]
      def initialize(state)
        @state = state
      end

      # @param path [String] of a key or a folder, such as `environments/dev/app1/password`
      # @return [Array<Row>] by the names of the roles
      def rows(path)
        @state.roles.reject { |_, role| role['deleting'] }.sort.flat_map do |name, role|
          around = role['grants'].select { |prefix, _| "#{path}/".start_with?("#{prefix.chomp('/*')}/") }
          around.map { |prefix, rights| row(name, role, prefix, rights) }
        end
      end

      private

      def row(name, role, prefix, rights)
        known = rights unless role['status'] == 'existing'
        Row.new(name, prefix, known, members(name, 'users'), members(name, 'groups'))
      end

      def members(role, list)
        @state.bindings.values.select { |binding| binding['roles'].include?(role) }
              .flat_map { |binding| binding[list] }.uniq.sort
      end
    end
  end
end
