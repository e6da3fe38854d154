# frozen_string_literal: true

require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # The keys and folders that the rights of a caller name, for one who may not list what is around them.
        class OwnPlaces
          # What stands for any text in a path, so that no page is about it.
          ANY = '*'
          private_constant :ANY

          # @param paths [Array<Array>] of {Rights#key_paths}
          # @param place [Place] of the page, whose environment and backend stand for those that a right does not name
          def initialize(paths, place)
            @paths = paths
            @place = place
          end

          # @return [Array<Array(String, String, Place)>] a name, the address of its page, or nil if there is none; and
          #   the place, which says in which environment and backend it is
          def rows
            found = @paths.flat_map { |path| places(*path) }
            found.sort_by { |place| [place.name, place.title, place.folder? ? 0 : 1] }
                 .uniq { |place| [place.name, place.scope] }.map { |place| row(place) }
          end

          private

          def row(place)
            name = place.root? ? 'all keys' : "#{place.name}#{'/' if place.folder?}"
            [name, (place.url unless name.include?(ANY)), place]
          end

          def places(text, below, environments, backends)
            # A right to all keys of a folder lists it.
            text = text.chomp(ANY) if !below && text.end_with?("/#{ANY}")
            segments = text.split('/').drop(3)
            folder = below || text.end_with?('/') || segments.empty?
            environments(environments).product(backends || [@place.backend]).map do |scope, backend|
              Place.new(segments, folder, scope.merge('backend' => backend))
            end
          end

          # @return [Array<Hash{String => String}>] parameters
          def environments(names)
            names ||= [@place.environment || Rights::GLOBAL]
            names.map { |name| name == Rights::GLOBAL ? { 'global' => 'true' } : { 'environment' => name } }
          end
        end
      end
    end
  end
end
