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
          # Those of a time, around and beside the text itself.
          AGE = 120
          # Names of a folder that is sorted by something else than the name: the service reads all its keys for that.
          SORTED = 1000
          # What sorts the keys, which follow the folders: by default the name.
          COLUMNS = { 'name' => nil, 'stored' => ->(row) { row.last['stored_at'] },
                      'expires' => ->(row) { row.last['expires'] }, 'versions' => ->(row) { row.last['versions'] },
                      'by' => ->(row) { row.last['stored_by'] } }.freeze
          # What the root has if there are no keys.
          NONE = { 'keys' => {}, 'folders' => [], 'total' => { 'keys' => 0, 'folders' => 0 } }.freeze
          private_constant :BYTES, :AGE, :SORTED, :COLUMNS, :NONE

          # @return [String] HTML
          def show
            shown = %i[offset limit].zip(window).to_h
            filter = parameter('filter')
            sorted_by(COLUMNS)
            listed(sorted(filter) || @keys.folder(**shown, filter: filter, expired: true), filter, **shown)
          rescue *ERRORS => e
            problem = Problem.of(e)
            return own_places(problem) if problem.status == 403 && @place.root?
            return refuse(problem) unless problem.status == 404 && @place.root?

            listed(NONE, filter, **shown)
          end

          private

          # @return [Boolean] whether the table has the order of the API
          def by_name?
            @sorted == ['name', false]
          end

          # @return [Hash, nil] the whole folder; nil for the order of the API, which a larger folder has in any case
          def sorted(filter)
            return if by_name?

            list = @keys.folder(offset: 0, limit: SORTED, filter: filter, expired: true)
            return list if list['total'].values.sum <= SORTED

            @sorted = ['name', false]
            nil
          end

          # The next page begins with the first row that does not fit on this one.
          def listed(list, filter, offset:, limit:)
            members = members(list)
            members = in_order_of(members).drop(offset).first(limit) unless by_name?
            file = file_of('keys') { members.map { |name, _, kind, body| { 'name' => name, 'kind' => kind, **body } } }
            return file if file

            rows = rows(members)
            limit = rows.length if rows.length < members.length
            view(title, 'keys/folder', total: list['total'], filter: filter, may_delete: @keys.may?('DELETE'),
                                       most: SORTED, **columns(rows),
                                       list: Listed.new(rows, list['total'].values.sum, offset, limit))
          end

          # @return [Hash{Symbol => Boolean}] what the table has beside names and kinds
          def columns(rows)
            known = rows.flat_map { |*, body| body.keys }
            { times: !(known & %w[stored_at expires]).empty?, writers: known.include?('stored_by') }
          end

          # @return [Array<Array(String, Place, String, Hash)>] a name, its page, what it is, and what the API tells
          def members(list)
            folders = list['folders'].map { |name| ["#{name}/", @place.below(name, folder: true), 'folder', {}] }
            keys = list['keys'].transform_values { |body| [body['expired'] ? 'key, expired' : 'key', body] }
            broken = list['errors'].to_h.transform_values { |why| ["key that cannot be read: #{why}", {}] }
            rows = keys.merge(broken).sort_by(&:first)
            folders + rows.map { |name, (kind, body)| [name, @place.below(name, folder: false), kind, body] }
          end

          # @return [Array] the members, keys without a value last
          def in_order_of(members)
            folders, keys = members.partition { |_, place,| place.folder? }
            value = COLUMNS.fetch(@sorted.first)
            known, others = keys.partition { |row| value.nil? || value.call(row) }
            [*folders, *in_order(known, COLUMNS), *others]
          end

          # @param members [Array] of {#members}
          # @return [Array<Array(String, String, Hash)>] for each one that fits on a page, HTML that names it, what it
          #   is, and what the API tells of it
          def rows(members)
            left = BYTES
            rows = members.lazy.map { |name, place, kind, body| [linked(name, place.url), cut(kind, 300), body] }
            rows.take_while do |link, kind, body|
              (left -= link.bytesize + Excerpt.bytes(kind) + (body.length * AGE)) >= 0
            end.to_a
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
