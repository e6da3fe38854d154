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
        when 'logs' then list.map { |line| log(line) }
        when 'values' then list.zip(events.to_a).map { |values, event| values_of(event, values) }
        else list.map { |event| event.is_a?(Hash) ? event(event) : event }
        end
      end

      def values_of(event, values)
        values(values, event.is_a?(Hash) && secret?(*event.values_at('resource', 'property')))
      end

      def hidden(value, secret)
        secret ? @replacement : value(value)
      end

      def value(value)
        case value
        when Hash then value.to_h { |name, member| [name, @names.include?(name) ? @replacement : value(member)] }
        when Array then value.map { |member| value(member) }
        when String then @text.of(value)
        else value
        end
      end
    end
  end
end
