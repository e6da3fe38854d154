# frozen_string_literal: true

require 'simpkv/server/api/conditions'
require 'simpkv/server/api/key_body'
require 'simpkv/server/api/key_description'
require 'simpkv/server/api/key_facts'
require 'simpkv/server/api/key_list'
require 'simpkv/server/api/key_path'
require 'simpkv/server/api/key_reading'

module Simpkv
  module Server
    # Keys: /v1/keys.
    class Application
      hash_branch('/v1', 'keys') do |r|
        r.is(['', true]) do
          at('/v1/keys')
          key_requests(r, '')
        end
        r.is(/(.+)/m) do |name|
          at('/v1/keys/{path}')
          key_requests(r, name)
        end
      end

      private

      def key_requests(request, name)
        request.get { get_key(name) }
        request.put { put_key(name) }
        request.delete { delete_key(name) }
      end

      # @return [KeyPath] after the check of the caller's rights
      def key_path(name, *parameters)
        query = query(*Api::KeyPath::PARAMETERS, *parameters)
        path = Api::KeyPath.new(name, query, flag('global'))
        check_estate(path)
        return path if rights.keys?(caller, request, path.environment, backend_name)

        place = path.environment || 'the global keys'
        raise Problem.new(403, "#{caller} has no right in #{place} of the backend '#{backend_name}': 'environments' " \
                               "or 'backends' in 'rights' of 'server' does not allow it")
      end

      # @return [String]
      def backend_name
        request.GET['backend'] || site.default_backend
      end

      # Tells in the header Allow what the caller may do here.
      def tell_changes(path)
        changes = rights.changes(caller, request, path, backend_name) unless path.estate?(true)
        response['allow'] = ['GET', 'HEAD', *changes].join(', ')
      end

      # The keys below a folder have paths of their own.
      def check_below(path)
        return if rights.keys?(caller, request, path.environment, backend_name, below: true)

        raise Problem.new(403, "#{caller} has no right to all keys below #{request.path_info}: 'rights' of 'server' " \
                               'needs a path that ends with /**. values=false lists the names of a folder')
      end

      def opened(path)
        backend, store = site.store(caller, request.GET['backend'])
        [backend, store, path.in(backend)]
      rescue ConfigError => e
        raise e unless request.GET['backend']

        raise Problem.new(400, e.message)
      end

      # The operations of a request share the time of one.
      def deadline
        @deadline ||= Deadline.new
      end

      # Root and the user of the service may read the documents of the estate. Nobody changes them as keys.
      def check_estate(path)
        return if !path.estate?(flag('recurse')) || (caller.owner? && (request.get? || request.head?))

        raise Problem.new(403, 'the documents of the estate are no keys: see /v1/nodes and /v1/inspection_rules')
      end

      def check_values
        return if rights.values?(caller)

        raise Problem.new(403, 'values of keys are not shown on a connection without TLS: use a Unix socket, or ' \
                               'ssl://. values=false lists the names of a folder')
      end

      def put_key(name)
        path = key_path(name)
        refuse_folder(path)
        body = body(Hash)
        return restore_key(path, body) if body.key?('version')

        document = Api::KeyBody.document(body)
        backend, store, place = opened(path)
        refuse_root(place)
        options = Api::KeyBody.options(body, backend.settings['history'])
        stored(replaced(store, place, path) { |old| Versions.successor(document, old, **options) })
      end

      # Makes an earlier value the current one. No value leaves the service.
      def restore_key(path, body)
        number, times = Api::KeyBody.restored(body)
        _, store, place = opened(path)
        refuse_root(place)
        stored(replaced(store, place, path) { |old| restored(old, number, times, path) })
      end

      # @return [String, nil] the document; nil if the stored one has this value
      def restored(old, number, times, path)
        raise Problem.new(404, "there is no key '#{path.name}'") if old.nil?

        version = Versions.version(old, number) || raise(Api::KeyBody.no_version(number))
        RichData.read(version) # raises an error, so that no malformed value becomes the current one
        if times.empty? && Versions.expired?(old)
          raise Problem.new(400, 'the key has expired: expires or expires_after says when the restored value expires')
        end

        times = { expires: Versions.expires(old) } if times.empty?
        Versions.restored(old, number, **times)
      end

      # @param created [Boolean] whether the key is new
      # @return [String] no body
      def stored(created)
        response.status = created ? 201 : 204
        response['location'] = "#{base_url}#{request.fullpath}" if created
        ''
      end

      # @yieldparam stored [String, nil] the document
      # @yieldreturn [String, nil] the one to store in its place; nil for none
      # @return [Boolean] whether the key is new
      def replaced(store, place, path)
        conditions = conditions(path)
        CompareAndSwap.repeat('others keep changing it: nothing was stored') do
          stored = current(store, place)
          live = stored && !Versions.expired?(stored) ? stored : nil
          conditions.check(live)
          new = yield stored
          if new
            CompareAndSwap.attempt do
              store.put(place, new, condition: stored ? :expect : :absent, expect: stored, deadline: deadline)
            end
          end
          tag(new || stored, path)
          live.nil?
        end
      end

      # @return [Boolean] whether the caller may GET the key. Its earlier values can be guessed by the entity tag
      def readable?(path)
        rights.key?(caller, path.name, path.environment, backend_name)
      end

      # @return [Api::Conditions] those of a request that changes a key
      # @raise [Problem] they would tell a caller who may not GET the key whether a guessed entity tag is its own
      def conditions(path)
        conditions = Api::Conditions.new(env)
        return conditions if conditions.tags.empty? || readable?(path)

        raise Problem.new(403, "#{caller} may use If-Match and If-None-Match only with '*': 'rights' of 'server' " \
                               "does not allow to GET #{request.path_info}")
      end

      def current(store, place)
        store.get(place, latest: true, required: false, deadline: deadline)
      end

      def delete_key(name)
        path = key_path(name, 'recurse')
        _, store, place = opened(path)
        return delete_folder(store, place, path) if path.folder? || flag('recurse')

        refuse_root(place)
        found = delete_checked(store, place, conditions(path))
        found ? no_content : raise(Problem.new(404, "there is no key '#{path.name}'"))
      end

      def delete_checked(store, place, conditions)
        return store.delete(place, deadline: deadline) unless conditions.given?

        CompareAndSwap.repeat do
          stored = current(store, place)
          conditions.check(stored)
          next false if stored.nil?

          store.delete(place, expect: stored, deadline: deadline) || CompareAndSwap.overtaken(place)
        end
      end

      def delete_folder(store, place, path)
        raise Problem.new(400, 'recurse=true deletes a folder and all below it') unless flag('recurse')

        check_below(path)
        refuse_conditions
        found = store.deletetree(place)
        found ? no_content : raise(Problem.new(404, "there is no folder '#{path.name}'"))
      end

      def refuse_folder(path)
        raise Problem.new(400, 'a key has no slash at its end') if path.folder?
      end

      def refuse_root(place)
        raise Problem.new(400, 'this is a folder, not a key') if Config.root?(place)
      end
    end
  end
end
