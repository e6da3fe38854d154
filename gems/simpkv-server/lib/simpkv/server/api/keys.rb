# frozen_string_literal: true

require 'simpkv/server/api/conditions'
require 'simpkv/server/api/key_body'
require 'simpkv/server/api/key_changes'
require 'simpkv/server/api/key_description'
require 'simpkv/server/api/key_list'
require 'simpkv/server/api/key_path'
require 'simpkv/server/api/key_rights'
require 'simpkv/server/api/key_watch'
require 'simpkv/server/api/key_writers'
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
        #
        # @param below [Boolean] whether it is about what is below a folder, too
        def find(name, *parameters, below: flag('recurse'))
          query = query(*KeyPath::PARAMETERS, *parameters)
          @path = KeyPath.new(name, query, flag('global'))
          @allowed = KeyRights.new(rights, caller, request, @path, query['backend'] || site.default_backend)
          @allowed.check(below)
        end

        # @return [StoredKey] of the request
        def opened
          backend, store = site.store(caller, request.GET['backend'])
          StoredKey.new(backend, store, @path.in(backend), @path.name)
        rescue ConfigError => e
          raise e unless request.GET['backend']

          raise Problem.new(400, e.message)
        end

        def get(name)
          return watch(name) if KeyWatch.asked?(texts)

          find(name, 'version', 'expired', 'recurse', 'values', *KeyList::PARAMETERS)
          values = flag('values', true)
          values ? @allowed.check_values : response['allow'] = ['GET', 'HEAD', *@allowed.changes].join(', ')
          key = opened
          return key.named { described(key, values) } if values || @path.folder? || !errors_returned?

          with_error(key) { described(key, false) }
        end

        # Waits for changes below a folder, which are names: as a list with recurse=true and values=false.
        def watch(name)
          find(name, *KeyWatch::PARAMETERS, below: true)
          @allowed.check_all
          again = -> { @allowed.again(rights, Gate.identify_again(env)).check_all }
          watch = KeyWatch.new(request, opts.fetch(:watches), &again)
          key = opened
          response = key.named { watch.response(key) }
          env[Puma::Const::HTTP_CONNECTION] = Puma::Const::CLOSE # Its length is not known.
          request.halt(response)
        rescue NotFoundError
          raise @path.missing, cause: nil
        end

        # @yieldreturn [String] the body of the response
        # @return [String] it, or for a key that cannot be read what there is beside its document
        def with_error(key, &block)
          key.named(&block)
        rescue MalformedError => e
          json('error' => e.message, **key.facts(@allowed.values?))
        end

        # @return [String] the body of the response
        def described(key, values)
          document = key.document(values) unless @path.folder?
          return folder(key, values) if document.nil?

          tag(document)
          check_expiry(document)
          return '' if known?(document)

          json(values ? KeyBody.version(document, KeyBody.number(request.GET)) : description(document, key))
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
          number = KeyBody.number(request.GET)
          found = KeyDescription.new(document, number, estate.secret_names, metadata: seen).to_h
          found['versions'] = KeyWriters.name(key.backend, key.place, found['versions']) if seen
          { **found, **key.facts(seen) }
        end

        # @return [String] the body of the response: the keys of a folder, by name, and its folders
        def folder(key, values)
          recurse = flag('recurse')
          @allowed.check_below if values || recurse
          list = KeyList.new(request.GET, errors: errors_returned?)
          found = key.list(list, values, recurse: recurse, expired: flag('expired'), times: @allowed.below?)
          json(values || recurse || !@allowed.values? ? found : with_writers(key, found))
        rescue NotFoundError
          raise @path.missing, cause: nil
        end

        # @return [Hash{String => Object}] a list of names, with the writers of values whose times it has
        def with_writers(key, list)
          list.merge('keys' => KeyWriters.name_all(key.backend, key.place, list['keys']))
        end

        def put(name)
          find(name)
          raise Problem.new(400, 'a key has no slash at its end') if @path.folder?

          body = body(Hash)
          return changed(:restore, body) if body.key?('version') # No value leaves the service.
          return changed(:metadata, body) if KeyChanges.metadata?(body)

          document = KeyBody.document(body)
          key = opened_key
          options = KeyBody.options(body, key.backend.settings['history'])
          stored(*key.replace(@allowed.conditions) { |old| Versions.successor(document, old, **options) })
        end

        # Changes a document that there is, without a value of the client.
        #
        # @param change [Symbol] see {KeyChanges}
        # @return [String] no body
        def changed(change, body)
          stored(*KeyChanges.public_send(change, opened_key, @allowed.conditions, body))
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
          find(name, 'recurse', 'version')
          if request.GET.key?('version')
            KeyChanges.delete_version(opened_key, @allowed.conditions, KeyBody.number(request.GET))
            return no_content
          end
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
