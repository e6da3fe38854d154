# frozen_string_literal: true

module Simpkv
  # The documents of some keys of a list, for {Store#list}.
  module ChosenDocuments
    # @param store [Store, Layer]
    # @param folder [String]
    # @param how [Hash] as {Store#list}
    # @return [Hash] as {Store#list}, without documents
    def self.none(store, folder, **how)
      store.list(folder, **how, chosen: ->(_) { [] })
    end

    # @param store [Store, Layer] reads the documents
    # @param folder [String]
    # @param list [Hash] as {Store#list}, without documents. It is changed
    # @param chosen [#call] see {Store#list}
    # @yield as {Store#list}
    # @return [Hash] the list
    def self.read(store, folder, list, chosen)
      names = chosen.call(list).to_h { |name| ["#{folder}/#{name}", name] }
      store.get_many(names.keys).each do |key, document|
        name = names.fetch(key)
        next list[:keys][name] = block_given? ? yield(name, document) : document unless document.is_a?(Error)

        list[:keys].delete(name)
        # A key that was deleted meanwhile is in no list.
        list[:errors][name] = document.message unless document.is_a?(NotFoundError)
      end
      list
    end
  end
end
