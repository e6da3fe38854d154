# frozen_string_literal: true

require 'simpkv/server/api/conditions'
require 'simpkv/server/api/key_body'
require 'simpkv/server/api/key_description'
require 'simpkv/server/api/key_list'
require 'simpkv/server/api/key_path'
require 'simpkv/server/api/key_rights'
require 'simpkv/server/api/stored_key'
require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # Keys: /v1/keys.
      class Keys < Application
        route do |r|
          r.is(['', true]) do
            at('/v1/keys')
            requests(r, '')
          end
          r.is(/(.+)/m) do |name|
            at('/v1/keys/{path}')
            requests(r, name)
          end
        end

        private

        def requests(request, name)
          request.get { get(name) }
          request.put { put(name) }
          request.delete { delete(name) }
        end

        # Reads what the request is about, and checks the caller's rights.
        def find(name, *parameters)
          query = query(*KeyPath::PARAMETERS, *parameters)
          @path = KeyPath.new(name, query, flag('global'))
          @allowed = KeyRights.new(rights, caller, request, @path, query['backend'] || site.default_backend)
          @allowed.check(flag('recurse'))
        end

        # @return [StoredKey] of the request
        def opened
          backend, store = site.store(caller, request.GET['backend'])
          StoredKey.new(backend, store, @path.in(backend))
        rescue ConfigError => e
          raise e unless request.GET['backend']

          raise Problem.new(400, e.message)
        end

        def get(name)
          find(name, 'version', 'expired', 'recurse', 'values', *KeyList::PARAMETERS)
          values = flag('values', true)
          values ? @allowed.check_values : tell_changes
          key = opened
          return key.named { described(key, values) } if values || @path.folder? || !errors_returned?

          with_error(key) { described(key, false) }
        end

        # @yieldreturn [String] the body of the response
        # @return [String] it, or for a key that cannot be read what there is beside its document
        def with_error(key, &block)
          key.named(&block)
        rescue MalformedError => e
          json('error' => e.message, **key.facts(@allowed.values?))
        end

        # Tells in the header Allow what the caller may do here.
        def tell_changes
          response['allow'] = ['GET', 'HEAD', *@allowed.changes].join(', ')
        end

        # @return [String] the body of the response
        def described(key, values)
          document = key.document(values) unless @path.folder?
          return folder(key, values) if document.nil?

          tag(document)
          check_expiry(document)
          return '' if known?(document)

          json(values ? KeyBody.version(document, version) : description(document, key))
        end

        # Sets the entity tag of the response.
        def tag(document)
          response['etag'] = Conditions.etag(document) if @allowed.tag?
        end

        def check_expiry(document)
          return if !Versions.expired?(document) || flag('expired')

          raise Problem.new(404, "it expired at #{Versions.text(Versions.expires(document))}: expired=true returns it")
        end

        # @return [Boolean] whether the client has the document
        def known?(document)
          return false unless @allowed.values? && Conditions.new(env).unmodified?(document)

          response.status = 304
          true
        end

        # @return [Hash] what a key has beside its value
        def description(document, key)
          seen = @allowed.values?
          { **KeyDescription.new(document, version, estate.secret_names, metadata: seen).to_h, **key.facts(seen) }
        end

        def version
          text = request.GET.fetch('version', '0')
          number = Coercion.convert(-Versions::HISTORY_MAX..0, text)
          number || raise(Problem.new(400, "the parameter 'version' must be a whole number from -100 to 0"))
        end

        # @return [String] the body of the response: the keys of a folder, by name, and its folders
        def folder(key, values)
          recurse = flag('recurse')
          @allowed.check_below if values || recurse
          list = KeyList.new(request.GET, errors: errors_returned?)
          json(key.list(list, values, recurse: recurse, expired: flag('expired')))
        rescue NotFoundError
          raise Problem.new(404, "there is no key or folder '#{@path.name}'"), cause: nil unless @path.name.empty?

          raise Problem.new(404, "there are no keys in #{@path.environment || 'the global keys'}"), cause: nil
        end

        def put(name)
          find(name)
          raise Problem.new(400, 'a key has no slash at its end') if @path.folder?

          body = body(Hash)
          return restore(body) if body.key?('version')

          document = KeyBody.document(body)
          key = opened_key
          options = KeyBody.options(body, key.backend.settings['history'])
          stored(*key.replace(@allowed.conditions) { |old| Versions.successor(document, old, **options) })
        end

        # Makes an earlier value the current one. No value leaves the service.
        def restore(body)
          number, times = KeyBody.restored(body)
          key = opened_key
          stored(*key.replace(@allowed.conditions) do |old|
            raise Problem.new(404, "there is no key '#{@path.name}'") if old.nil?

            KeyBody.restoration(old, number, times)
          end)
        end

        # @param created [Boolean] whether the key is new
        # @return [String] no body
        def stored(created, document)
          tag(document)
          response.status = created ? 201 : 204
          response['location'] = "#{base_url}#{request.fullpath}" if created
          ''
        end

        def delete(name)
          find(name, 'recurse')
          return delete_folder(opened) if @path.folder? || flag('recurse')

          found = opened_key.delete(@allowed.conditions)
          found ? no_content : raise(Problem.new(404, "there is no key '#{@path.name}'"))
        end

        def delete_folder(folder)
          raise Problem.new(400, 'recurse=true deletes a folder and all below it') unless flag('recurse')

          @allowed.check_below
          refuse_conditions
          folder.delete_folder ? no_content : raise(Problem.new(404, "there is no folder '#{@path.name}'"))
        end

        # @return [StoredKey] as {#opened}
        # @raise [Problem] it is the folder above all others
        def opened_key
          key = opened
          key.root? ? raise(Problem.new(400, 'this is a folder, not a key')) : key
        end
      end
    end
  end
end
