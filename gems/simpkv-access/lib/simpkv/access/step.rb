# frozen_string_literal: true

module Simpkv
  module Access
    # A change that brings a directory nearer to what is declared.
    #
    # act:: `create`, `password`, `adopt`, `keep`, `folder`, `rules`, `members`, `delete`, `forget`, `narrow`, `widen`
    # section, name:: the user or role; for `folder` the prefix is the name, for `narrow` and `widen` the server's URI
    # data:: for `rules`, `members`, `narrow` and `widen`: `add` and `delete`; for `narrow` also `used_by`; for `rules`
    #        all that the block of {Plan#initialize} returns, and perhaps `later`: the steps from this one on need
    #        another plan, after those before it
    Step = Struct.new(:act, :section, :name, :data) do
      # @return [Boolean] whether an administrator has to change the rules
      def by_hand?
        act == 'rules' && data[:by_hand] ? true : false
      end

      # @return [Boolean] whether it concerns a single server, not the whole directory
      def of_server?
        %w[narrow widen].include?(act)
      end

      # @return [Boolean] see `later`
      def later?
        act == 'rules' && data[:later] ? true : false
      end

      # @return [Hash{String => Object}] for programs
      def plain
        { 'act' => act, 'kind' => section&.chomp('s'), 'name' => name, 'add' => data&.fetch(:add),
          'delete' => data&.fetch(:delete), 'ldif' => (data[:ldif] if by_hand?),
          'used_by' => data && data[:used_by] }.compact
      end

      # @return [Array<String>] the lines for people
      def lines
        case act
        when 'rules' then by_hand? ? lines_for_administrator : changes { |sign, rule| "#{sign} rule #{rule}" }
        when 'members' then changes { |sign, dn| "#{sign} member of role #{name}: #{dn}" }
        when 'narrow', 'widen' then lines_of_server
        else [format(Step::LINES.fetch(act), section ? "#{section.chomp('s')} #{name}" : "folder #{name}")]
        end
      end

      private

      def lines_for_administrator
        ['# The identity may not read cn=config. Let an administrator apply this, to the database of the base entry:',
         *data[:ldif].lines.map(&:chomp), '']
      end

      def lines_of_server
        changes { |sign, rule| "#{sign} server-wide rule of #{name}: #{rule}" } +
          data.fetch(:used_by, []).map { |text| "# #{name}: #{text}" }
      end

      def changes
        { '-' => :delete, '+' => :add }.flat_map { |sign, kind| data[kind].map { |text| yield(sign, text) } }
      end
    end

    # By the act; %s stands for the user, role or folder.
    Step::LINES = {
      'create' => 'create %s', 'password' => 'set the password of %s', 'adopt' => 'keep %s, made by an earlier apply',
      'keep' => 'leave %s as it is: it existed before', 'folder' => 'create %s', 'delete' => 'delete %s',
      'forget' => 'forget %s'
    }.freeze
  end
end
