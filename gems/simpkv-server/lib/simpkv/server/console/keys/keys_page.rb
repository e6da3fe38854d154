# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/server/console/keys/client'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # What the pages of keys and folders have in common.
        class KeysPage < Page
          # What a form has done, by {Visit#notice}.
          NOTICES = { 'created' => 'The key is stored. It is new.', 'stored' => 'The value is stored.',
                      'restored' => 'The earlier value is the current one now.', 'deleted' => 'The key is deleted.',
                      'version_deleted' => 'The earlier value is deleted. Later numbers have moved up.',
                      'metadata_stored' => 'The metadata are stored. The value is as it was.',
                      'folder_deleted' => 'The folder is deleted, with all that was below it.' }.freeze
          NEEDS_TLS = 'values are not shown on a connection without TLS, and nothing is changed there: use the Unix ' \
                      'socket of the service, or its address with ssl'
          private_constant :NOTICES

          # @param visit [Visit]
          # @param keys [Client] of the place that the page is about
          def initialize(visit, keys)
            super(visit)
            @keys = keys
            @place = keys.place
          end

          # The page of an error, with the form for another environment or backend.
          #
          # @param problem [Problem]
          # @return [String] HTML
          def refuse(problem)
            response.status = problem.status
            view(title, 'keys/refused', problem: problem)
          end

          private

          # @return [String] of the place
          def title
            return @place.name unless @place.folder?

            @place.root? ? 'Keys' : "#{@place.name}/"
          end

          # A store that cannot be reached is not asked for its environments: that could take its time again.
          #
          # @return [String] HTML
          def view(title, template, **locals)
            choice = @keys.choice(environments: response.status != 503)
            page(title, template, place: @place, choice: choice, notice: NOTICES[notice],
                                  copy: (@place.name unless @place.root?), **locals)
          end

          # @return [Boolean] whether the rights of the caller allow to store some key below the folder
          def store_here?
            api.rights.below?(caller, 'PUT', "/v1/keys/#{@place.name}", @place.environment, @place.backend)
          end

          # @param total [Hash{String => Integer}] of the API
          # @return [String] such as `2 folders and 1 key`
          def total_of(total)
            %w[folder key].map { |name| Counted.of(total["#{name}s"], name) }.join(' and ')
          end

          # @raise [Problem] 403: the caller may not see values. The API would name its parameters
          def check_values_shown
            raise Problem.new(403, NEEDS_TLS) unless api.rights.values?(caller)
          end

          # @return [true]
          # @raise [Problem] 403
          def may_change(method)
            return true if @keys.may?(method)

            raise Problem.new(403, Rights.refusal(caller, method, @place.right))
          end

          # @param overtaken [String] the message if the condition of a change does not hold
          # @return [Problem] whose status the page has
          def failure(error, overtaken)
            problem = Problem.of(error)
            problem = Problem.new(412, overtaken) if problem.status == 412
            response.status = problem.status
            problem
          end
        end
      end
    end
  end
end
