# frozen_string_literal: true

require 'simpkv/document/stored_form'

module Simpkv
  module Server
    # GET of keys and folders.
    class Application
      private

      def get_key(name)
        path = key_path(name, 'version', 'expired', 'recurse', 'values', *Api::KeyList::PARAMETERS)
        values = flag('values', true)
        values ? check_values : tell_changes(path)
        opened = opened(path)
        return get_document(path, values, *opened) if values || path.folder? || !errors_returned?

        error_described(*opened) { get_document(path, values, *opened) }
      end

      def get_document(path, values, backend, store, place)
        document = path.folder? ? nil : read(store, place, values)
        return get_folder(store, place, path, values) if document.nil?

        tag(document, path)
        check_expiry(document)
        return '' if known?(document)

        json(values ? key_body(document, version) : description(document, backend, store, place))
      rescue Error => e
        raise e.about(place)
      end

      # @yieldreturn [String] the body of the response
      # @return [String] it, or for a key that cannot be read what there is beside its document
      def error_described(*opened)
        yield
      rescue MalformedError => e
        json('error' => e.message, **facts(*opened))
      end

      # @return [String, nil] the document; nil if there is none
      def read(store, place, values)
        return if Config.root?(place)

        store.public_send(values ? :get : :describe, place, required: false, deadline: deadline)
      rescue IsFolderError
        nil
      end

      # Sets the entity tag of the response. A short value can be guessed by it: callers who may not see the value do
      # not get it.
      #
      # @return [void]
      def tag(document, path)
        response['etag'] = Api::Conditions.etag(document) if rights.values?(caller) && readable?(path)
      end

      # @return [Boolean] whether the client has the document
      def known?(document)
        return false unless rights.values?(caller) && Api::Conditions.new(env).unmodified?(document)

        response.status = 304
        true
      end

      # What a key has beside its value.
      def description(document, backend, store, place)
        { **Api::KeyDescription.new(document, version, estate.secret_names, metadata: rights.values?(caller)).to_h,
          **facts(backend, store, place) }
      end

      # What a key has beside its document.
      def facts(backend, store, place)
        audit = backend.settings['audit']
        recorded = audit['reads'] ? 'reads' : 'writes' if audit
        { 'backend' => backend.name, 'audit' => recorded || 'none',
          **Api::KeyFacts.of(store, place, deadline, size: rights.values?(caller)) }
      end

      def version
        text = request.GET.fetch('version', '0')
        number = Coercion.convert(-Versions::HISTORY_MAX..0, text)
        number || raise(Problem.new(400, "the parameter 'version' must be a whole number from -100 to 0"))
      end

      def key_body(document, number)
        log = Versions.log(document).find { |version| version['version'] == number }
        raise Api::KeyBody.no_version(number) unless log

        chosen = number.zero? ? document : Versions.version(document, number)
        Api::KeyBody.of(chosen, log)
      end

      def check_expiry(document)
        return if !Versions.expired?(document) || flag('expired')

        raise Problem.new(404, "it expired at #{Versions.text(Versions.expires(document))}: expired=true returns it")
      end

      # The keys of a folder, by name, and its folders.
      def get_folder(store, place, path, values)
        check_below(path) if values || flag('recurse')
        json(listing(store, place, values, Api::KeyList.new(request.GET, errors: errors_returned?)))
      rescue NotFoundError
        raise Problem.new(404, "there is no key or folder '#{path.name}'"), cause: nil unless path.name.empty?

        raise Problem.new(404, "there are no keys in #{path.environment || 'the global keys'}"), cause: nil
      end

      # @param list [Api::KeyList]
      # @return [Hash] see {Api::KeyList#of}
      def listing(store, place, values, list)
        read = ->(_name, document) { listed(document, values) }
        chosen = list.choice(!values && flag('expired'))
        found = if flag('recurse')
                  store.tree(place, &read)
                else
                  store.list(place, chosen: chosen, deadline: deadline, &read)
                end
        list.of(found, place)
      end

      # @return [Hash, Error, nil]
      def listed(document, values)
        expired = Versions.expired?(document)
        return if expired && !flag('expired')
        return Api::KeyBody.of(Versions.version(document, 0), Versions.log(document).first) if values

        StoredForm.check(document)
        expired ? { 'expired' => true } : {}
      rescue Error => e
        e
      end
    end
  end
end
