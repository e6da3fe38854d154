# frozen_string_literal: true

require 'simpkv/server/problem'
require 'simpkv/server/rights'

module Simpkv
  module Server
    module Console
      # Parts of a page that may be missing: the caller may not see them, the service cannot tell now, or there is
      # nothing. A class that has them includes {Html}, and has `api`, `caller` and `response`.
      module Parts
        # What stands in the place of a part that is missing. `status` is that of HTTP, and `key` of the {Problem}.
        Missing = Struct.new(:status, :message, :key)
        # The statuses of the API that leave the rest of the page useful.
        OTHERS = [403, 503].freeze
        private_constant :OTHERS

        private

        # @yieldreturn [Object] the part
        # @return [Object, Missing] it, or why it is missing
        # @raise [Problem, Error] the whole page is wrong
        def part(*statuses)
          yield
        rescue Problem, Error, ConfigError => e
          problem = Problem.of(e)
          raise unless [*OTHERS, *statuses].include?(problem.status)

          Missing.new(problem.status, problem.message, problem.key)
        end

        # As {#part}, for what the page is about: the page has the status of it.
        #
        # @return [Object, Missing]
        # @raise [Problem, Error]
        def subject(*statuses, &block)
          part(*statuses, &block).tap { |found| response.status = found.status if missing?(found) }
        end

        # @param method [String]
        # @param path [String] of the API, escaped
        # @return [Boolean] whether the rights of the caller allow such a request. The API decides when it comes
        def may?(method, path)
          api.check(method, path)
          true
        rescue Problem => e
          raise unless e.status == 403

          false
        end

        # @param action [String] what a form would do, such as `Deleting this rule`
        # @param method [String]
        # @param path [String] of the API
        # @return [String] HTML: a sentence in place of the form
        def withheld(action, method, path)
          %(<p class="muted">#{h(action)} needs the right to #{method} <code>#{h(path)}</code>: ) +
            "#{h(Rights.lacking(caller))}.</p>"
        end

        # @param part [Object, Missing]
        # @return [Boolean]
        def missing?(part)
          part.is_a?(Missing)
        end

        # @param missing [Missing]
        # @return [String] HTML: a sentence in place of the part
        def absence(missing)
          %(<p class="problem">#{h(missing.message)}</p>)
        end
      end
    end
  end
end
