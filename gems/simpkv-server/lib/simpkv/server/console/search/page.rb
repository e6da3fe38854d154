# frozen_string_literal: true

require 'simpkv/server/console/search/kinds'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Search < Section
        # What has a text in its name, of all kinds.
        class SearchPage < Page
          # By method of {Kinds}.
          TITLES = { nodes: 'Nodes', keys: 'Keys', facts: 'Facts', resources: 'Resources', rules: 'Rules',
                     users: 'Users and roles' }.freeze
          # The kind of which there are most, which is searched beside the others.
          SLOW = :resources
          # Characters of a text.
          LONGEST = 200
          private_constant :TITLES, :SLOW, :LONGEST

          # @return [String] HTML
          def show
            text = given('q').strip
            raise Problem.new(400, "a text to search for has at most #{LONGEST} characters") if text.length > LONGEST

            found = text.empty? ? {} : search(Kinds.new(api, text, self))
            page(text.empty? ? 'Search' : "Search: #{cut(text, 60)}", 'search/results', text: text, found: found)
          end

          private

          # A kind that the caller may not see, or that cannot be read, leaves the others.
          #
          # @return [Hash{String => Kinds::Found, Missing}] by title
          def search(kinds)
            slow = Thread.new { found(kinds, SLOW) }
            slow.report_on_exception = false
            found = (TITLES.keys - [SLOW]).to_h { |name| [name, found(kinds, name)] }
            found[SLOW] = slow.value
            TITLES.to_h { |name, title| [title, found[name]] }
          end

          def found(kinds, name)
            part(400, 404, 500) { kinds.public_send(name) }
          end

          # @return [Boolean] whether nothing was found, and all could be searched
          def nothing?(found)
            found.values.all? { |each| !missing?(each) && each.items.empty? && each.problem.nil? }
          end
        end
      end
    end
  end
end
