# frozen_string_literal: true

require 'simpkv/estate/secret_text'

module Simpkv
  class Estate
    # Replaces secrets in reports. It knows a secret by the name of what has it: the property of an event, the resource
    # of an event or of a line of a log, such as `Ini_setting[db_password]`, and names in a text ({SecretText}).
    #
    # Nothing but a name tells that a value is a secret which is not Sensitive: a command may print one by itself.
    class ReportSecrets
      # A property that says nothing but whether there is the resource.
      HARMLESS = 'ensure'
      # The path of a resource and the property in the source of a line of a log, such as
      # /Stage[main]/Main/User[felix]/password. A title may have brackets and slashes: the resource is all that may
      # belong to one.
      SOURCE = %r{\A(?:/Stage\[\w+\])?(?:/[A-Z][\w:]*+(?=/))*+(.*?)(?:/([^/\]]+))?\z}m.freeze
      # What may be the title of a resource.
      TITLE = /\[(.*)/m.freeze
      private_constant :HARMLESS, :SOURCE, :TITLE

      # @param names [SecretNames]
      # @param replacement [String, nil] of a message, and of a value
      def initialize(names, replacement = SecretNames::REDACTED)
        @names = names
        @replacement = replacement
        @text = SecretText.new(names, replacement)
      end

      # @param report [Hash] a stored one, also one with details
      # @return [Hash] a copy without secrets
      def report(report)
        lists = report.slice('events', 'values', 'logs').select { |_, list| list.is_a?(Array) }
        report.merge(lists.to_h { |name, list| [name, shown(name, list, report['events'])] })
      end

      # @param event [Hash] of a report; also one with the member `values`
      # @return [Hash] a copy without secrets
      def event(event)
        secret = secret?(event['resource'], event['property'])
        copy = event.dup
        copy['message'] = hidden(event['message'], secret) if event['message']
        copy['values'] = values(event['values'], secret) if event['values']
        copy
      end

      # @param values [Hash{String => Object}, nil] those of an event, by what they are
      # @param secret [Boolean] whether all are secrets
      # @return [Hash, nil] a copy without secrets
      def values(values, secret)
        values&.transform_values { |value| hidden(value, secret) }
      end

      # A command may have printed a secret of several lines, each of which is a line of the log.
      # @param lines [Array<Hash>] a log
      # @return [Array<Hash>] a copy without secrets
      def logs(lines)
        lines.slice_when { |one, other| !of_one_resource?(one, other) }.flat_map do |run|
          next run.map { |line| log(line) } if run.length == 1

          messages = @text.of_all(run.map { |line| line['message'] })
          run.zip(messages).map { |line, message| log(line.merge('message' => message)) }
        end
      end

      # @param line [Hash] of a log
      # @return [Hash] a copy without secrets
      def log(line)
        return line unless line.is_a?(Hash) && line['message']

        secret = secret?(*SOURCE.match(line['source'].to_s).captures)
        line.merge('message' => hidden(line['message'], secret))
      end

      # @return [Boolean] whether the values of a property are secrets
      def secret?(resource, property)
        return true if @names.include?(property.to_s)

        property != HARMLESS && @names.include?(resource.to_s[TITLE, 1].to_s)
      end

      private

      def shown(name, list, events)
        case name
        when 'logs' then logs(list)
        when 'values' then list.zip(events.to_a).map { |values, event| values_of(event, values) }
        else list.map { |event| event.is_a?(Hash) ? event(event) : event }
        end
      end

      def values_of(event, values)
        values(values, event.is_a?(Hash) && secret?(*event.values_at('resource', 'property')))
      end

      def of_one_resource?(*lines)
        return false unless lines.all? { |line| line.is_a?(Hash) && line['message'].is_a?(String) }

        sources = lines.map { |line| line['source'].to_s }.uniq
        sources.length == 1 && sources.first.start_with?('/')
      end

      def hidden(value, secret)
        secret ? @replacement : value(value)
      end

      def value(value)
        case value
        when Hash then members(value)
        when Array then value.all?(String) ? @text.of_all(value) : value.map { |member| value(member) }
        when String then @text.of(value)
        else value
        end
      end

      # A member may have the name of a secret, whose value is in another one.
      def members(hash)
        named = hash.values_at('name', 'key').any? { |name| name.is_a?(String) && @names.include?(name) }
        hash.to_h do |name, member|
          [@text.of(name), @names.include?(name) || (named && name == 'value') ? @replacement : value(member)]
        end
      end
    end
  end
end
