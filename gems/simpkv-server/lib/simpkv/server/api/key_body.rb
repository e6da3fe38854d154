# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # The bodies of keys: a value with its metadata, and what else the document has.
      module KeyBody
        MEMBERS = %w[value metadata encoding sensitive stored_at expires expires_after history].freeze
        # Of a body that restores an earlier value.
        RESTORING = %w[version expires expires_after].freeze
        private_constant :MEMBERS, :RESTORING

        class << self
          # @param document [String] without times and history
          # @param log [Hash] of its version: see {Versions.log}
          # @return [Hash{String => Object}]
          # @raise [MalformedError]
          def of(document, log)
            body = RichData.presentable(RichData.read(document))
            decoded = RichData.decode(document)
            body['sensitive'] = true if decoded.key?(:encoding) && RichData.object?(decoded[:value], 'Sensitive')
            body.merge(log.slice('stored_at', 'expires').compact)
          end

          # @param body [Hash{String => Object}] of a PUT
          # @return [String] the document
          # @raise [Problem] a member is unknown, missing or wrong
          def document(body)
            check_members(body)
            metadata = body.fetch('metadata', nil) || {}
            raise Problem.new(400, 'metadata: it must be an object') unless metadata.is_a?(Hash)

            value = value(body)
            body['sensitive'] ? RichData.sensitive(value, metadata) : Codec.encode(value, metadata)
          end

          # @param body [Hash{String => Object}] of a PUT
          # @param default [Integer, nil] the option `history` of the backend
          # @return [Hash{Symbol => Object}] the times and the history for {Versions.successor}
          # @raise [Problem]
          def options(body, default)
            history = option(body, 'history', 0..Versions::HISTORY_MAX)
            { history: history || default, **times(body) }
          end

          # @param body [Hash{String => Object}] of a PUT that makes an earlier value the current one
          # @return [Proc] makes the new document of the stored one
          # @raise [Problem]
          def restoring(body)
            check_names(body, RESTORING)
            number = Coercion.convert(-Versions::HISTORY_MAX..-1, body['version'])
            raise Problem.new(400, 'version: it must be a whole number from -100 to -1') if number.nil?

            given = times(body).compact
            ->(old) { restoration(old, number, given) }
          end

          # @param query [Hash{String => String}]
          # @return [Integer] the number of the version that a request is about
          # @raise [Problem]
          def number(query)
            Coercion.convert(-Versions::HISTORY_MAX..0, query.fetch('version', '0')) ||
              raise(Problem.new(400, "the parameter 'version' must be a whole number from -100 to 0"))
          end

          # @param document [String]
          # @param number [Integer] of a version of it: 0 for the current one
          # @return [Hash{String => Object}] as {of}
          # @raise [Problem, MalformedError] there is no such version
          def version(document, number)
            log = Versions.log(document).find { |version| version['version'] == number } || raise(no_version(number))
            of(number.zero? ? document : Versions.version(document, number), log)
          end

          # @param document [String]
          # @param number [Integer] of an earlier version
          # @param times [Hash{Symbol => Object}] when the restored value expires; empty for the time of the current one
          # @return [String, nil] the document with this value as the current one; nil if it has it already
          # @raise [Problem, MalformedError]
          def restoration(document, number, times)
            version = Versions.version(document, number) || raise(no_version(number))
            RichData.read(version) # raises an error, so that no malformed value becomes the current one
            if times.empty? && Versions.expired?(document)
              raise Problem.new(400, 'the key has expired: expires or expires_after says when the restored value ' \
                                     'expires')
            end

            times = { expires: Versions.expires(document) } if times.empty?
            Versions.restored(document, number, **times)
          end

          # @param number [Integer]
          # @return [Problem]
          def no_version(number)
            Problem.new(404, "there is no version #{number}")
          end

          private

          def times(body)
            after = option(body, 'expires_after', :lifetime)
            expires = body['expires'] && future(body['expires'])
            raise Problem.new(400, 'expires and expires_after exclude each other') if after && expires

            { expires_after: after, expires: expires }
          end

          def check_names(body, known)
            unknown = (body.keys - known).first
            raise Problem.new(400, "unknown member '#{unknown}': there are #{known.join(', ')}") if unknown
          end

          def check_members(body)
            check_names(body, MEMBERS)
            raise Problem.new(400, 'value: it is missing, or null, which is not stored') if body['value'].nil?
            return if [nil, true, false].include?(body['sensitive'])

            raise Problem.new(400, 'sensitive: it must be true or false')
          end

          def value(body)
            case body['encoding']
            when nil then body['value']
            when 'base64' then bytes(body['value'])
            else raise Problem.new(400, 'encoding: it must be base64')
            end
          end

          def bytes(text)
            text.is_a?(String) ? text.unpack1('m0').b : raise(ArgumentError)
          rescue ArgumentError
            raise Problem.new(400, 'value: it is no base64'), cause: nil
          end

          def option(body, name, type)
            return if body[name].nil?

            value = Coercion.convert(type, body[name])
            value.nil? ? raise(Problem.new(400, "#{name}: it must be #{Coercion.needed(type)}")) : value
          end

          # A key that has expired already would be invisible to readers. `expires_after` is more than 0 for functions,
          # resources and the command, too.
          def future(text)
            time = time(text)
            return time if time > Versions.now

            raise Problem.new(400, "expires: #{text} is past: a key that has expired is missing for manifests. " \
                                   'Nothing was stored')
          end

          def time(text)
            Versions.utc(text)
          rescue MalformedError
            raise Problem.new(400, 'expires: it must be a time such as 2026-11-23T15:00:00Z'), cause: nil
          end
        end
      end
    end
  end
end
