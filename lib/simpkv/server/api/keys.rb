# frozen_string_literal: true

require 'simpkv/server/api/conditions'
require 'simpkv/server/api/key_body'
require 'simpkv/server/api/key_path'

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

      # The keys below a folder have paths of their own.
      def check_below(path)
        return if rights.keys?(caller, request, path.environment, backend_name, below: true)

        raise Problem.new(403, "#{caller} has no right to all keys below #{request.path_info}: 'rights' of 'server' " \
                               'needs a path that ends with /**. values=false lists the names of a folder')
      end

      def opened(path)
        backend, store = site.store(caller, request.GET['backend'])
        # The calls of a request share the time of one.
        [backend, store.within(Deadline.new), path.in(backend)]
      rescue ConfigError => e
        raise e unless request.GET['backend']

        raise Problem.new(400, e.message)
      end

      def get_key(name)
        path = key_path(name, 'version', 'expired', 'recurse', 'values')
        _, store, place = opened(path)
        document = path.folder? ? nil : read(store, place)
        return get_folder(store, place, path) if document.nil?

        check_values
        check_expiry(document)
        conditions = Api::Conditions.new(env)
        response['etag'] = Api::Conditions.etag(document)
        if conditions.unmodified?(document)
          response.status = 304
          return ''
        end
        json(key_body(document, version))
      end

      # @return [String, nil] the document; nil if there is none
      def read(store, place)
        return if Config.root?(place)

        store.get(place, required: false)
      rescue IsFolderError
        nil
      end

      def version
        text = request.GET.fetch('version', '0')
        number = Coercion.convert(-Versions::HISTORY_MAX..0, text)
        number || raise(Problem.new(400, "the parameter 'version' must be a whole number from -100 to 0"))
      end

      def key_body(document, number)
        log = Versions.log(document).find { |version| version['version'] == number }
        raise Problem.new(404, "there is no version #{number}") unless log

        chosen = number.zero? ? document : Versions.version(document, number)
        Api::KeyBody.of(chosen, log)
      end

      def check_expiry(document)
        return if !Versions.expired?(document) || flag('expired')

        raise Problem.new(404, "it expired at #{Versions.text(Versions.expires(document))}: expired=true returns it")
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

      # The keys of a folder, by name, and its folders.
      def get_folder(store, place, path)
        values = flag('values', true)
        check_values if values
        check_below(path) if values || flag('recurse')
        json(listing(store, place, values))
      rescue NotFoundError
        raise Problem.new(404, "there is no key or folder '#{path.name}'"), cause: nil unless path.name.empty?

        raise Problem.new(404, "there are no keys in #{path.environment || 'the global keys'}"), cause: nil
      end

      def listing(store, place, values)
        read = ->(_name, document) { listed(document, values) }
        found = flag('recurse') ? store.tree(place, &read) : store.list(place, &read)
        errors = found[:errors].merge(found[:keys].select { |_, body| body.is_a?(Error) })
        name, why = errors.min_by(&:first)
        raise MalformedError, "'#{name}' cannot be read: #{why}" if name

        { 'keys' => found[:keys].compact.sort.to_h, 'folders' => found[:folders].sort }
      end

      # @return [Hash, Error, nil] nil for a key that has expired
      def listed(document, values)
        return if !flag('expired') && Versions.expired?(document)

        values ? Api::KeyBody.of(Versions.version(document, 0), Versions.log(document).first) : {}
      rescue Error => e
        e
      end

      def put_key(name)
        path = key_path(name)
        refuse_folder(path)
        body = body(Hash)
        document = Api::KeyBody.document(body)
        backend, store, place = opened(path)
        refuse_root(place)
        options = Api::KeyBody.options(body, backend.settings['history'])
        created = replaced(store, place, document, options)
        response.status = created ? 201 : 204
        response['location'] = "#{base_url}#{request.fullpath}" if created
        ''
      end

      # @return [Boolean] whether the key is new
      def replaced(store, place, document, options)
        conditions = Api::Conditions.new(env)
        CompareAndSwap.repeat('others keep changing it: nothing was stored') do
          stored = current(store, place)
          live = stored && !Versions.expired?(stored) ? stored : nil
          conditions.check(live)
          new = Versions.successor(document, stored, **options)
          if new
            CompareAndSwap.attempt do
              store.put(place, new, condition: stored ? :expect : :absent, expect: stored)
            end
          end
          response['etag'] = Api::Conditions.etag(new || stored)
          live.nil?
        end
      end

      def current(store, place)
        store.get(place, latest: true, required: false)
      end

      def delete_key(name)
        path = key_path(name, 'recurse')
        _, store, place = opened(path)
        return delete_folder(store, place, path) if path.folder? || flag('recurse')

        refuse_root(place)
        found = delete_checked(store, place)
        found ? no_content : raise(Problem.new(404, "there is no key '#{path.name}'"))
      end

      def delete_checked(store, place)
        conditions = Api::Conditions.new(env)
        return store.delete(place) unless conditions.given?

        CompareAndSwap.repeat do
          stored = current(store, place)
          conditions.check(stored)
          next false if stored.nil?

          store.delete(place, expect: stored) || CompareAndSwap.overtaken
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
