# frozen_string_literal: true

require 'simpkv/server/console/nodes/node_page'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # What a deactivation would remove, and the form for it.
        class DeactivationPage < NodePage
          # @return [String] HTML
          def show
            api.check('DELETE', api_path)
            node # Documents that cannot be read go as well.
            view('Deactivate', left_something? ? 'nodes/deactivate' : 'nodes/deactivate_none')
          end

          # Deactivates the node.
          #
          # @return [void]
          def submit
            api.request('DELETE', api_path, query: { 'purge' => 'true' })
            go_with_notice(url('nodes', removed: @certname), 'removed')
          end
        end
      end
    end
  end
end
