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
        # The most about servers, and about certificates of the service.
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

        # @return [Array<String>] the parts that cannot be read without an alert, in words: a site may do without the
        #   index, and the page says so in the place of the chart
        def unknown
          %w[runs].reject { |name| told?(name) || @state[name]['pending'] }.map { |name| PARTS[name] }
        end

        private

        def told?(name)
          !@state[name].key?('error')
        end

        def untold(name)
          part = @state[name]
          return if part['pending'] || unknown.include?(PARTS[name])

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
          soon("Not seen for a day: #{count(overdue, 'node')}.", '/nodes?state=overdue') if overdue.positive?
        end

        def runs(_part); end

        # Adds what the block adds, but the most urgent only, and how many more there are.
        def most(about, path)
          before = @all
          @all = []
          yield
          found = @all.partition(&:urgent).flatten
          @all = before + found.first(MOST)
          more = found.drop(MOST)
          @all << Alert.new(more.any?(&:urgent), "#{more.length} more about #{about}.", path) if more.any?
        end

        def servers(part)
          most('servers of directories', '/#servers') { part['servers'].each { |each| server(each) } }
        end

        def server(server)
          uri = server['uri']
          urgent("The server #{uri} does not answer: #{server['error']}") if server['state'] == 'down'
          lag(uri, server['lag']) if server['lag']
          certificate("of the server #{uri}", server['certificate_days']) if server['certificate_days']
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
          most('certificates of the service', '/#service') do
            service['certificates'].each do |each|
              certificate("#{each['subject']} ('#{each['option']}' of the service)", each['days'])
            end
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
          problems, warnings, unknown = part['counts'].values_at('problem', 'warning', 'unknown')
          urgent("simpkv doctor finds #{count(problems, 'problem')}.", '/#doctor') if problems.positive?
          soon("simpkv doctor has #{count(warnings, 'warning')}.", '/#doctor') if warnings.positive?
          soon("simpkv doctor could not examine #{count(unknown, 'subject')}.", '/#doctor') if unknown.positive?
        end

        def count(number, noun)
          "#{number} #{noun}#{'s' unless number == 1}"
        end
      end
    end
  end
end
