# frozen_string_literal: true

require 'simpkv/server/console/excerpt'
require 'simpkv/server/console/keys/keys_page'
require 'simpkv/server/console/keys/own_places'
require 'simpkv/server/console/keys/value_form'
require 'simpkv/server/console/rows'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # The folders and keys in a folder.
        class FolderPage < KeysPage
          include Rows

          # Bytes of HTML of the rows.
          BYTES = 60_000
          # What the root has if there are no keys.
          NONE = { 'keys' => {}, 'folders' => [], 'total' => { 'keys' => 0, 'folders' => 0 } }.freeze
          private_constant :BYTES, :NONE

          # @return [String] HTML
          def show
            shown = %i[offset limit].zip(window).to_h
            filter = parameter('filter')
            list = @keys.folder(**shown, filter: filter, expired: true)
            listed(list, filter, **shown)
          rescue *ERRORS => e
            problem = Problem.of(e)
            return own_places(problem) if problem.status == 403 && @place.root?
            return refuse(problem) unless problem.status == 404 && @place.root?

            listed(NONE, filter, **shown)
          end

          private

          # The next page begins with the first row that does not fit on this one.
          def listed(list, filter, offset:, limit:)
            members = members(list)
            rows = rows(members)
            limit = rows.length if rows.length < members.length
            view(title, 'keys/folder', total: list['total'], filter: filter, may_delete: @keys.may?('DELETE'),
                                       list: Listed.new(rows, list['total'].values.sum, offset, limit))
          end

          # @return [Array<Array(String, Place, String)>] a name, its page, and what it is
          def members(list)
            folders = list['folders'].map { |name| ["#{name}/", @place.below(name, folder: true), 'folder'] }
            keys = list['keys'].transform_values { |body| body['expired'] ? 'key, expired' : 'key' }
            broken = list['errors'].to_h.transform_values { |why| "key that cannot be read: #{why}" }
            rows = keys.merge(broken).sort_by(&:first)
            folders + rows.map { |name, kind| [name, @place.below(name, folder: false), kind] }
          end

          # @param members [Array] of {#members}
          # @return [Array<Array(String, String)>] for each one that fits on a page, HTML that names it, and what it is
          def rows(members)
            left = BYTES
            rows = members.lazy.map { |name, place, kind| [linked(name, place.url), cut(kind, 300)] }
            rows.take_while { |link, kind| (left -= link.bytesize + Excerpt.bytes(kind)) >= 0 }.to_a
          end

          # The page of the menu for a caller who may not list all keys: the paths in its rights.
          #
          # @param problem [Problem] why all keys are not listed
          def own_places(problem)
            places = OwnPlaces.new(api.rights.key_paths(caller), @place).rows
            return refuse(problem) if places.empty?

            check_scope(places) if parameter('backend') || parameter('environment')
            view(title, 'keys/own', rows: places.first(SIZE_MAX), more: places.length > SIZE_MAX, problem: problem)
          rescue *ERRORS => e
            refuse(Problem.of(e))
          end

          # @param places [Array<Array>] of {OwnPlaces}
          # @return [void]
          # @raise [Problem] 400: the address names a backend that there is not, or an environment that there cannot be
          def check_scope(places)
            _, _, own = places.find { |_, address, place| address && place.backend == @place.backend }
            @keys.at(own).description if own
          rescue *ERRORS => e
            raise if Problem.of(e).status == 400
          end
        end

        # The form that deletes a folder.
        class FolderDeletionPage < KeysPage
          # @return [String] HTML
          def show
            check_root
            confirmation
          end

          # Deletes the folder, if the person has typed its name, and has seen how much it has.
          #
          # @return [String, void] HTML if it is not deleted
          def submit
            check_root
            problem = unconfirmed
            if problem
              response.status = problem.status
              return confirmation(problem)
            end

            @keys.delete_folder
            go_with_notice(@place.parent.url, 'folder_deleted')
          end

          private

          def check_root
            raise Problem.new(404, 'the root of all keys is not deleted here') if @place.root?
          end

          def confirmation(problem = nil)
            size = @keys.size
            may_change('DELETE')
            view("Delete #{title}", 'keys/delete_folder', size: size, problem: problem)
          end

          # @return [Problem, nil]
          def unconfirmed
            unless form['name'].strip.chomp('/') == @place.name
              return Problem.new(400, 'What you have typed is not the name of this folder. Nothing was deleted.')
            end
            return if form['count'] == @keys.size.values_at('keys', 'folders').join('+')

            Problem.new(409, 'The number of keys has changed meanwhile. Nothing was deleted. Look at it again.')
          end
        end

        # The form for a new key in a folder.
        class NewKeyPage < KeysPage
          EXISTS = 'There is a key of this name: nothing was stored, and it is as it was.'
          private_constant :EXISTS

          # @return [String] HTML
          def show
            raise Problem.new(403, Rights.refusal(caller, 'PUT', @place.right)) unless store_here?

            filled(ValueForm.empty)
          end

          # Stores a key that must not exist.
          #
          # @return [String, void] HTML if it is not stored
          def submit
            entered = ValueForm.entered(form)
            # The API answers 404 for a name that is empty, and 400 for one that no key can have.
            raise Problem.new(400, 'the name is missing: nothing was stored') if entered.name.delete('/').empty?

            key = @place.below(entered.name, folder: false)
            @keys.at(key).put(entered.body, '')
            go_with_notice(key.url, 'created')
          rescue *ERRORS => e
            problem = failure(e, EXISTS)
            raise if entered.nil?

            filled(entered, problem)
          end

          private

          def filled(form, problem = nil)
            view('New key', 'keys/edit', form: form, problem: problem, notes: notes, name: true,
                                         action: @place.url(do: 'new'), button: 'Store the new key')
          end

          # @return [Array<String>]
          def notes
            return [] if may?('PUT', @place.below('NAME', folder: false).api_path)

            ["Not every name will do: #{caller} may PUT some keys of this folder only."]
          end
        end
      end
    end
  end
end
