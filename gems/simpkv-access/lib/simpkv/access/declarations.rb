# frozen_string_literal: true

require 'simpkv/errors'
require 'simpkv/access/grant'
require 'simpkv/config/spelling'

module Simpkv
  module Access
    # Users, roles and bindings as an operator declares them (docs/access.md): plain data from a file or from resources.
    # It has each name once, and lists without repetitions, sorted. A message has the place of what is wrong, and no
    # value: a password that somebody wrote in place of a reference does not reach a log.
    class Declarations
      SECTIONS = %w[users roles bindings].freeze
      NAME = /\A[a-z0-9][a-z0-9._-]{0,63}\z/.freeze
      NAME_IN_WORDS = "up to 64 lower-case letters, digits, '.', '_' and '-', of which the first is a letter or a digit"
      ALL_ENVIRONMENTS = 'environments/*'
      REFERENCE = %r{\A(?:file:/[^\0\n]+|key:[^/\0\n]+/(?:globals|environments/[^/\0\n]+)/[^\0\n]+)\z}.freeze
      DN = /\A[A-Za-z][A-Za-z0-9-]*=[^[:cntrl:]]+\z/.freeze
      EMPTY = SECTIONS.to_h { |section| [section, {}] }.freeze
      private_constant :SECTIONS, :NAME, :NAME_IN_WORDS, :REFERENCE, :DN, :EMPTY

      # The members of a binding, and what each of them lists.
      LISTS = { 'users' => 'names of users', 'groups' => 'DNs of groups', 'roles' => 'names of roles' }.freeze
      private_constant :LISTS

      # @return [Hash{String => Hash}] `{'password' => reference}` by name
      attr_reader :users

      # @return [Hash{String => Hash{String => Array<String>}}] by name, the rights by prefix
      attr_reader :roles

      # @return [Hash{String => Hash{String => Array<String>}}] by name, `users`, `groups` and `roles`
      attr_reader :bindings

      # @return [Array<String>] the reasons why the data are invalid, each with its place
      attr_reader :problems

      # @param data [Object] plain data
      # @param case_sensitive [Boolean] whether prefixes may have capital letters
      def initialize(data, case_sensitive = false) # rubocop:disable Style/OptionalBooleanParameter -- data may be a Hash without braces
        @case_sensitive = case_sensitive
        @problems = []
        data = members(data || {}, SECTIONS, nil)
        data = EMPTY.merge(data.compact)
        @users = section(data, 'users') { |user, place| user(user, place) }
        @roles = section(data, 'roles') { |role, place| role(role, place) }
        @bindings = section(data, 'bindings') { |binding, place| binding(binding, place) }
      end

      # @return [Declarations] self
      # @raise [InvalidError] the first of the problems
      def valid!
        problems.empty? ? self : raise(InvalidError, problems.first)
      end

      # @return [Boolean] whether it declares nothing
      def empty?
        [users, roles, bindings].all?(&:empty?)
      end

      # @param users [Hash] as {#users}
      # @param roles [Hash] as {#roles}
      # @param bindings [Hash] as {#bindings}
      # @return [Hash] data from which {#initialize} reads the same
      def self.data(users, roles, bindings)
        { 'users' => users,
          'roles' => roles.transform_values do |grants|
            grants.group_by(&:last).map { |rights, same| { 'prefixes' => same.map(&:first), 'rights' => rights } }
          end,
          'bindings' => bindings.transform_values { |binding| binding.reject { |_, list| list.empty? } } }
      end

      private

      def problem(place, what)
        @problems << [place, what].compact.join(': ')
        nil
      end

      # @return [Hash] the known members
      def members(data, names, place)
        return problem(place, "expected a Hash with #{list(names)}") || {} unless data.is_a?(Hash)

        (data.keys - names).each { |name| unknown(name, names, place) }
        data.slice(*names)
      end

      # The name of a member of a user may be a password that somebody has written there.
      def unknown(name, names, place)
        likely = Spelling.nearest(name.to_s, names)
        named = " '#{name}'" if name.to_s.match?(/\A\w{1,32}\z/) && !place.to_s.start_with?('users.')
        problem(place, "unknown member#{named}#{likely ? ": did you mean '#{likely}'?" : ": expected #{list(names)}"}")
      end

      def list(names)
        names.length == 1 ? names.first : "#{names[0..-2].join(', ')} and #{names.last}"
      end

      def section(data, title)
        return problem(title, 'expected a Hash, by names') || {} unless data[title].is_a?(Hash)

        data[title].each_with_object({}) do |(name, member), found|
          next problem(title, "a name is not valid: expected #{NAME_IN_WORDS}") unless name?(name)

          found[name] = yield(member, "#{title}.#{name}")
        end
      end

      def name?(name)
        name.is_a?(String) && name.match?(NAME)
      end

      def user(data, place)
        user = members(data, %w[password], place)
        reference = user['password']
        unless reference.is_a?(String) && reference.match?(REFERENCE)
          problem("#{place}.password", "expected a reference, 'file:/PATH' or 'key:BACKEND/PATH', and never a password")
        end
        { 'password' => reference }
      end

      # @return [Hash{String => Array<String>}] the rights by prefix
      def role(data, place)
        return problem(place, 'expected a list of Hashes with prefixes and rights') || {} unless data.is_a?(Array)

        grants = Hash.new { |all, prefix| all[prefix] = [] }
        data.each_with_index do |grant, number|
          grant = members(grant, %w[prefixes rights], "#{place}[#{number}]")
          rights = rights(grant['rights'], "#{place}[#{number}].rights")
          prefixes(grant['prefixes'], "#{place}[#{number}].prefixes").each { |prefix| grants[prefix] |= rights }
        end
        grants.sort.to_h.transform_values(&:sort)
      end

      def rights(data, place)
        Access.expand(each_text(data, place, RIGHTS.join(', ')) { |right| RIGHTS.include?(right) })
      end

      def prefixes(data, place)
        each_text(data, place, 'prefixes of keys') { |prefix, at| prefix?(prefix, at) }
      end

      # @return [Array<String>] the texts of a list that the block accepts. The block gets the text and its place, and
      #   returns false for a wrong one, or nil if it has noted the problem itself
      def each_text(data, place, expected)
        return problem(place, "expected a list that is not empty: #{expected}") || [] unless texts?(data)

        accepted = data.each_with_index.select do |text, number|
          result = yield(text, "#{place}[#{number}]")
          problem("#{place}[#{number}]", "expected one of #{expected}") if result == false
          result
        end
        accepted.map(&:first).uniq.sort
      end

      def texts?(data)
        data.is_a?(Array) && data.any? && data.all?(String)
      end

      def prefix?(prefix, place)
        return true if prefix == ALL_ENVIRONMENTS
        unless prefix.match?(%r{\A(globals|environments/[^/*]+)(/[^/]+)*\z})
          return problem(place, 'expected a folder: globals, globals/FOLDER, environments/NAME, ' \
                                "environments/NAME/FOLDER or #{ALL_ENVIRONMENTS}")
        end

        Native.key_check(prefix, @case_sensitive)
        true
      rescue InvalidError, TooLargeError => e
        problem(place, e.message)
      end

      def binding(data, place)
        data = members(data, LISTS.keys, place)
        bound = LISTS.to_h do |name, what|
          list = data[name].nil? && name != 'roles' ? [] : named(data[name], "#{place}.#{name}", what, name)
          [name, list]
        end
        problem(place, 'it has neither users nor groups') if data.key?('roles') && !data['users'] && !data['groups']
        bound
      end

      def named(data, place, what, name)
        each_text(data, place, what) { |text| text.match?(name == 'groups' ? DN : NAME) }
      end
    end
  end
end
