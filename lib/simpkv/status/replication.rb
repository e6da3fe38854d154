# frozen_string_literal: true

module Simpkv
  module Status
    # How far the servers of a directory have got with its changes, by their own state of replication: contextCSN of
    # OpenLDAP, and the replica update vector (RUV) of 389-DS. Both name the last change of each server that takes
    # writes, with its time.
    module Replication
      # The state cannot be read. The message says why, and what to do.
      class Unknown < StandardError; end

      # contextCSN: `20261126001234.123456Z#000000#001#000000`, the third number being the server's.
      CSN = /\A(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d+)?Z#\h+#(\h+)#/.freeze
      # nsds50ruv: `{replica 1 ldap://host:389} FIRST LAST`. The last change begins with its time in seconds.
      RUV = /\A\{replica (\d+)[^}]*\} \h+ (\h{8})\h{12}/.freeze
      private_constant :CSN, :RUV

      class << self
        # @param store [Store] of one server
        # @param settings [Hash{String => Object}] of the backend
        # @return [Hash{String => Numeric}] by the number of a server that takes writes, the time of the last of its
        #   changes that this server has, in seconds since 1970
        # @raise [Unknown] the identity of the backend may not read it, or there is none
        # @raise [Error] the server does not answer
        def state(store, settings)
          root = read(store, '', %w[namingContexts vendorName vendorVersion])
          suffix = suffix(root, settings['base_dn'])
          raise Unknown, "the server does not say in which suffix '#{settings['base_dn']}' is" unless suffix

          name, attribute = place(root, suffix)
          values = read(store, name, [attribute]).find { |found, _| found.casecmp?(attribute) }&.last.to_a
          times(values).tap { |found| raise Unknown, unreadable(name, attribute, settings) if found.empty? }
        end

        # @param states [Array<Hash>] of {state}, of all servers
        # @param state [Hash] that of one
        # @return [Numeric] the seconds between the last change that this server has, and the last one of another server
        #   that it lacks; 0 if it lacks none. If {unseen} has IDs, the lag is at least that number
        def lag(states, state)
          last = state.values.max
          states.flat_map(&:to_a).map { |server, time| time - (state[server] || [last, time].min) }.max.round(3)
        end

        # @param (see lag)
        # @return [Array<String>] the IDs of servers of which this server has no change, and another server has some. If
        #   there are any, {lag} can be too small: the last change of this server can be newer than all that it lacks
        def unseen(states, state)
          states.flat_map(&:keys).uniq - state.keys
        end

        private

        # An entry that the server hides has no attributes.
        def read(store, name, attributes)
          store.directory.read_entry(name, attributes)
        rescue DeniedError, NotFoundError
          {}
        end

        def suffix(root, base)
          names = root.find { |name, _| name.casecmp?('namingContexts') }&.last.to_a
          base = canonical(base)
          names.select { |name| ",#{base}".end_with?(",#{canonical(name)}") }.max_by(&:length)
        end

        def canonical(name)
          name.downcase.gsub(/\s*,\s*/, ',')
        end

        # @return [Array(String, String)] the entry and the attribute with the state
        def place(root, suffix)
          vendor = root.select { |name, _| name.match?(/\Avendor/i) }.values.flatten
          return [suffix, 'contextCSN'] unless vendor.any? { |text| text.start_with?('389') }

          escaped = canonical(suffix).gsub(/[=,+"\\<>;]/) { |character| format('\\%02X', character.ord) }
          ["cn=replica,cn=#{escaped},cn=mapping tree,cn=config", 'nsds50ruv']
        end

        def times(values)
          values.map { |value| csn(value) || ruv(value) }.compact.group_by(&:first)
                .transform_values { |pairs| pairs.map(&:last).max }
        end

        def csn(value)
          *date, fraction, server = value.match(CSN)&.captures
          [server, Time.utc(*date).to_i + fraction.to_f] if server
        end

        def ruv(value)
          server, time = value.match(RUV)&.captures
          [server, time.hex] if server
        end

        def unreadable(name, attribute, settings)
          who = settings['admin_pw_file'] ? settings['admin_dn'] : 'the local user'
          "#{attribute} of '#{name}' is not readable by #{who}, or the server does not replicate: grant read of " \
            "#{attribute} (docs/status.md)"
        end
      end
    end
  end
end
