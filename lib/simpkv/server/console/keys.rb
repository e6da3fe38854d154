# frozen_string_literal: true

require 'simpkv/server/console/keys/client'
require 'simpkv/server/console/keys/kinds'
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
      # What a form has done, by the parameter `done`.
      DONE = { 'created' => 'The key is stored. It is new.', 'stored' => 'The value is stored.',
               'restored' => 'The earlier value is the current one now.', 'deleted' => 'The key is deleted.',
               'folder_deleted' => 'The folder is deleted, with all that was below it.' }.freeze
      # Rows of a folder on a page.
      KEY_ROWS = 50
      KEY_ROWS_MAX = 200
      # What the API raises.
      KEY_ERRORS = [Problem, Error, ConfigError].freeze
      private_constant :FOLDER_PAGES, :KEY_PAGES, :DONE, :KEY_ROWS, :KEY_ROWS_MAX, :KEY_ERRORS

      hash_branch('', 'keys') do |r|
        at('/keys/{path}')
        open_key_place(r)
        pages = (@place.folder? ? FOLDER_PAGES : KEY_PAGES).fetch(r.post?)
        action = pages[key_parameter('do')] || raise(Problem.new(404, 'there is no such page of keys'))
        send(action)
      end

      private

      def open_key_place(request)
        segments = env.fetch(Gate::SEGMENTS).drop(1)
        folder = segments.empty? || request.path_info.end_with?('/')
        given = %w[environment global backend].to_h { |name| [name, key_parameter(name)] }
        @place = Keys::Place.new(segments, folder, given)
        @keys = Keys::Client.new(api, @place)
        @done = DONE[request.GET.delete('done')]
      end

      # @return [String, nil] a parameter of the address; nil for an empty one
      def key_parameter(name)
        value = request.GET[name]
        return if value.nil? || value == ''
        return value if value.is_a?(String) && value.valid_encoding?

        raise Problem.new(400, "the parameter '#{name}' must be given once, with a text")
      end

      def keys_view(title, template, **locals)
        page(title, template, place: @place, choice: @keys.choice, done: @done, **locals)
      end

      # The page of an error that has the form for another environment or backend.
      def keys_refused_view(title, problem)
        response.status = problem.status
        keys_view(title, 'keys_refused', problem: problem)
      end

      def folder_page
        shown = { offset: number('offset', 0, 0..), limit: number('limit', KEY_ROWS, 1..KEY_ROWS_MAX) }
        filter = key_parameter('filter')
        expired = key_parameter('expired') == 'true'
        list = @keys.folder(**shown, filter: filter, expired: (true if expired))
        keys_view(folder_title, 'keys_folder', list: list, rows: folder_rows(list), filter: filter, expired: expired,
                                               **shown)
      rescue *KEY_ERRORS => e
        problem = Problem.of(e)
        return keys_refused_view(folder_title, problem) unless problem.status == 404 && @place.root?

        none = { 'keys' => {}, 'folders' => [], 'total' => { 'keys' => 0, 'folders' => 0 } }
        keys_view(folder_title, 'keys_folder', list: none, rows: [], filter: filter, expired: expired, **shown)
      end

      def folder_title
        @place.root? ? 'Keys' : "#{@place.name}/"
      end

      # @return [Array<Array(String, String, String)>] a name, the address of its page, and what it is
      def folder_rows(list)
        folders = list['folders'].map { |name| ["#{name}/", @place.below(name, folder: true).url, 'folder'] }
        keys = list['keys'].transform_values { |body| body['expired'] ? 'key, expired' : 'key' }
        broken = list['errors'].to_h.transform_values { |why| "key that cannot be read: #{why}" }
        rows = keys.merge(broken).sort_by(&:first)
        folders + rows.map { |name, kind| [name, @place.below(name, folder: false).url, kind] }
      end

      # @return [Array(Hash, String)] what the key has beside its value, and the entity tag of its document
      def key_description
        answer = @keys.description
        [answer.data, answer.headers['etag']]
      end

      def key_page
        description, etag = key_description
        return go_to(@place.below('', folder: true).url) if description.key?('folders')

        key_view(description, etag)
      rescue *KEY_ERRORS => e
        keys_refused_view(@place.name, Problem.of(e))
      end

      # @param value [Hash] for the template: what the person has asked to see
      def key_view(description, etag, value = nil)
        keys_view(@place.name, 'keys_key', description: description, value: value, changes: !etag.nil?,
                                           kinds: Keys::Kinds.new(description))
      end

      # Shows a value. The API reads it as the caller, so that the audit log has a line about that.
      def key_value_page
        number = Integer(field('version'), 10, exception: false) || 0
        body = @keys.value(number).data
        description, etag = key_description
        shown = Keys::ShownValue.new(body)
        key_view(description, etag, number: number, shown: shown, body: body)
      end
    end
  end
end

require 'simpkv/server/console/keys/changes'
