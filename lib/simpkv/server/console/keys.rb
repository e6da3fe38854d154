# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/server/console/excerpt'
require 'simpkv/server/console/keys/client'
require 'simpkv/server/console/keys/kinds'
require 'simpkv/server/console/keys/own_places'
require 'simpkv/server/console/keys/place'
require 'simpkv/server/console/keys/shown_value'
require 'simpkv/server/console/keys/value_form'

module Simpkv
  module Server
    # Folders and keys: /keys/. An address never has a value.
    class Console
      # The parameter `do` of requests for a folder, and for a key; by whether they come from a form that changes
      # something, or shows a value.
      FOLDER_PAGES = { false => { nil => :folder_page, 'new' => :new_key_page, 'delete' => :folder_deletion_page },
                       true => { 'new' => :store_new_key, 'delete' => :delete_folder } }.freeze
      KEY_PAGES = { false => { nil => :key_page, 'edit' => :key_replacement_page, 'restore' => :key_restore_page,
                               'delete' => :key_deletion_page },
                    true => { 'show' => :key_value_page, 'edit' => :key_edit_page, 'save' => :save_key,
                              'restore' => :restore_key, 'delete' => :delete_key } }.freeze
      # What a form has done, by {#take_notice}.
      KEY_NOTICES = { 'created' => 'The key is stored. It is new.', 'stored' => 'The value is stored.',
                      'restored' => 'The earlier value is the current one now.', 'deleted' => 'The key is deleted.',
                      'folder_deleted' => 'The folder is deleted, with all that was below it.' }.freeze
      # What the API raises.
      KEY_ERRORS = [Problem, Error, ConfigError].freeze
      # Bytes of HTML of the metadata of a key, and of the rows of a folder.
      KEY_METADATA = 15_000
      FOLDER_ROWS = 60_000
      private_constant :FOLDER_PAGES, :KEY_PAGES, :KEY_NOTICES, :KEY_ERRORS, :KEY_METADATA, :FOLDER_ROWS

      hash_branch('', 'keys') do |r|
        at('/keys/{path}')
        open_key_place(r)
        send(key_action(r.post?))
      rescue *KEY_ERRORS => e
        raise if @keys.nil? || @place.folder?

        keys_refused_view(@place.name, Problem.of(e))
      end

      private

      def open_key_place(request)
        segments = env.fetch(Gate::SEGMENTS).drop(1)
        folder = segments.empty? || request.path_info.end_with?('/')
        scope = %w[environment global backend].to_h { |name| [name, key_parameter(name)] }
        @place = Keys::Place.new(segments, folder, scope)
        @keys = Keys::Client.new(api, @place)
      end

      # @param form [Boolean] whether the request is the POST of a form
      # @return [Symbol] the method for it
      def key_action(form)
        name = key_parameter('do')
        pages = @place.folder? ? FOLDER_PAGES : KEY_PAGES
        action = pages.fetch(form)[name]
        return action if action
        # The address of the answer to a form, loaded again.
        return go_to(@place.url) if !form && pages.fetch(true).key?(name)

        raise Problem.new(404, 'there is no such page of keys')
      end

      # @return [String, nil] a parameter of the address; nil for an empty one
      def key_parameter(name)
        value = given(name)
        value unless value.empty?
      end

      # A store that cannot be reached is not asked for its environments: that could take its time again.
      def keys_view(title, template, **locals)
        choice = @keys.choice(environments: response.status != 503)
        page(title, template, place: @place, choice: choice, notice: KEY_NOTICES[@notice], **locals)
      end

      # The page of an error that has the form for another environment or backend.
      def keys_refused_view(title, problem)
        response.status = problem.status
        keys_view(title, 'keys_refused', problem: problem)
      end

      def folder_page
        shown = %i[offset limit].zip(window).to_h
        filter = key_parameter('filter')
        list = @keys.folder(**shown, filter: filter, expired: true)
        folder_view(list, filter, **shown)
      rescue *KEY_ERRORS => e
        problem = Problem.of(e)
        return own_places_page(problem) if problem.status == 403 && @place.root?
        return keys_refused_view(folder_title, problem) unless problem.status == 404 && @place.root?

        none = { 'keys' => {}, 'folders' => [], 'total' => { 'keys' => 0, 'folders' => 0 } }
        folder_view(none, filter, **shown)
      end

      # The next page begins with the first row that does not fit on this one.
      def folder_view(list, filter, offset:, limit:)
        members = folder_members(list)
        rows = folder_rows(members)
        limit = rows.length if rows.length < members.length
        keys_view(folder_title, 'keys_folder', list: list, rows: rows, filter: filter, offset: offset, limit: limit,
                                               may_delete: @keys.may?('DELETE'))
      end

      # The page of the menu for a caller who may not list all keys: the paths in its rights.
      #
      # @param problem [Problem] why all keys are not listed
      def own_places_page(problem)
        places = Keys::OwnPlaces.new(api.rights.key_paths(caller), @place).rows
        return keys_refused_view(folder_title, problem) if places.empty?

        check_scope(places) if key_parameter('backend') || key_parameter('environment')
        keys_view(folder_title, 'keys_own', rows: places.first(Rows::SIZE_MAX), more: places.length > Rows::SIZE_MAX,
                                            problem: problem)
      rescue *KEY_ERRORS => e
        keys_refused_view(folder_title, Problem.of(e))
      end

      # @param places [Array<Array>] of {Keys::OwnPlaces}
      # @return [void]
      # @raise [Problem] 400: the address names a backend that there is not, or an environment that there cannot be
      def check_scope(places)
        _, _, own = places.find { |_, address, place| address && place.backend == @place.backend }
        Keys::Client.new(api, own).description if own
      rescue *KEY_ERRORS => e
        raise if Problem.of(e).status == 400
      end

      # @param total [Hash{String => Integer}] of the API
      # @return [String] such as `2 folders and 1 key`
      def key_total(total)
        %w[folder key].map { |name| Counted.of(total["#{name}s"], name) }.join(' and ')
      end

      def folder_title
        @place.root? ? 'Keys' : "#{@place.name}/"
      end

      # @param members [Array] of {#folder_members}
      # @return [Array<Array(String, String)>] for each of them that fits on a page, HTML that names it, and what it is
      def folder_rows(members)
        left = FOLDER_ROWS
        rows = members.lazy.map { |name, place, kind| [linked(name, place.url), cut(kind, 300)] }
        rows.take_while { |link, kind| (left -= link.bytesize + Excerpt.bytes(kind)) >= 0 }.to_a
      end

      # @return [Array<Array(String, Place, String)>] a name, its page, and what it is
      def folder_members(list)
        folders = list['folders'].map { |name| ["#{name}/", @place.below(name, folder: true), 'folder'] }
        keys = list['keys'].transform_values { |body| body['expired'] ? 'key, expired' : 'key' }
        broken = list['errors'].to_h.transform_values { |why| "key that cannot be read: #{why}" }
        rows = keys.merge(broken).sort_by(&:first)
        folders + rows.map { |name, kind| [name, @place.below(name, folder: false), kind] }
      end

      # @return [Array(Hash, String)] what the key has beside its value, and the entity tag of its document; nil in its
      #   place for a caller who may not see values
      def key_description
        description, etag = key_or_error
        raise Problem.new(500, description['error']) if description.key?('error')

        [description, etag]
      end

      # @return [Array(Hash, String)] as {#key_description}; for a key that cannot be read, with its `error` only
      def key_or_error
        answer = @keys.description
        raise Problem.new(409, "'#{@place.name}' is a folder, not a key") if answer.data.key?('folders')

        [answer.data, answer.headers['etag']]
      end

      def key_page
        key_view(*key_description)
      rescue Problem => e
        raise unless e.status == 409

        go_to(@place.below('', folder: true).url)
      end

      # @param value [Hash] for the template: what the person has asked to see
      def key_view(description, etag, value = nil)
        keys_view(@place.name, 'keys_key', description: description, value: value, changes: !etag.nil?,
                                           metadata: Excerpt.new(KEY_METADATA),
                                           may: %w[PUT DELETE].to_h { |method| [method, @keys.may?(method)] },
                                           kinds: Keys::Kinds.new(description),
                                           needs_tls: KEY_NEEDS_TLS.sub(/\A./, &:upcase))
      end

      # Shows a value. The API reads it as the caller, so that the audit log has a line about that.
      def key_value_page
        check_values_shown
        number = field('version')
        number = '0' if number.empty?
        described = key_description
        body = @keys.value(number).data
        shown = Keys::ShownValue.new(body)
        key_view(*described, number: number, shown: shown, body: body)
      end
    end
  end
end

require 'simpkv/server/console/keys/changes'
