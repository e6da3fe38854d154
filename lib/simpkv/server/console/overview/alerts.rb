# frozen_string_literal: true

module Simpkv
  module Server
    class Console < Roda
      # What needs attention, from the state of the site: one sentence each, the urgent ones first.
      class Alerts
        # A certificate that ends within so many days is to be renewed.
        DAYS = 30
        # The parts of the state, in words.
        PARTS = { 'nodes' => 'nodes', 'runs' => 'runs', 'servers' => 'servers of directories',
                  'compilers' => 'compilers', 'expiring_keys' => 'keys that expire', 'access' => 'access rights',
                  'doctor' => 'findings of doctor' }.freeze
        # The most of one kind.
        MOST = 10
        private_constant :DAYS, :PARTS, :MOST

        # - `urgent`: whether something is broken now
        # - `text`: a sentence
        # - `path`: of the page with more; nil for none
        Alert = Struct.new(:urgent, :text, :path)

        # @return [Array<Alert>]
        attr_reader :all

        # @param state [Hash] of `/v1/status`
        def initialize(state)
          @state = state
          @all = []
          PARTS.each_key { |name| told?(name) ? send(name, state[name]) : untold(name) }
          certificates(state['service'])
          @all = @all.partition(&:urgent).flatten
        end

        # @return [Array<String>] the parts that are being read for the first time, in words
        def pending
          PARTS.select { |name, _| @state[name]['pending'] }.values
        end

        private

        def told?(name)
          !@state[name].key?('error')
        end

        def untold(name)
          part = @state[name]
          # A site may do without the index: the page says so in the place of the chart.
          return if part['pending'] || name == 'runs'

          urgent("The #{PARTS[name]} cannot be read: #{part['error']}")
        end

        def urgent(text, path = nil)
          @all << Alert.new(true, text, path)
        end

        def soon(text, path = nil)
          @all << Alert.new(false, text, path)
        end

        def nodes(part)
          failed = part['statuses']['failed']
          urgent("The last run failed on #{count(failed, 'node')}.", '/nodes?status=failed') if failed.positive?
          overdue = part['overdue']
          soon("#{count(overdue, 'node')} had no run for a day.", '/nodes?sort=seen') if overdue.positive?
        end

        def runs(_part); end

        def servers(part)
          part['servers'].first(MOST).each do |server|
            uri = server['uri']
            urgent("The server #{uri} does not answer: #{server['error']}") if server['state'] == 'down'
            lag(uri, server['lag']) if server['lag']
            certificate("of the server #{uri}", server['certificate_days']) if server['certificate_days']
          end
        end

        def lag(uri, lag)
          return soon("The keys of the server #{uri} could not be compared.") unless lag['ok']

          differences = lag.values_at('missing', 'different', 'surplus').sum(&:to_i)
          return if differences.zero?

          urgent("The server #{uri} differs from the first one by #{count(differences, 'key')}.")
        end

        def certificate(whose, days)
          return if days >= DAYS
          return urgent("The certificate #{whose} has expired.") if days.negative?

          soon("The certificate #{whose} expires in #{count(days, 'day')}.")
        end

        def certificates(service)
          service['certificates'].first(MOST).each do |each|
            certificate("#{each['subject']} ('#{each['option']}' of the service)", each['days'])
          end
        end

        def compilers(_part); end

        def expiring_keys(part)
          unreadable = part['unreadable']['total']
          urgent("Keys or folders that cannot be read: #{unreadable}.", '/#keys') if unreadable.positive?
          total = part['total']
          soon("Expired, or to expire within 14 days: #{count(total, 'key')}.", '/#keys') if total.positive?
        end

        def access(part)
          differences = part['differences'].to_i + part['conflicts'].to_i
          return if differences.zero?

          soon("The directory differs from the declared access rights: #{count(differences, 'difference')}.", '/access')
        end

        def doctor(part)
          problems, warnings = part['counts'].values_at('problem', 'warning')
          urgent("simpkv doctor finds #{count(problems, 'problem')}.", '/#doctor') if problems.positive?
          soon("simpkv doctor has #{count(warnings, 'warning')}.", '/#doctor') if warnings.positive?
        end

        def count(number, noun)
          "#{number} #{noun}#{'s' unless number == 1}"
        end
      end
    end
  end
end
