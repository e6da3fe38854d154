# frozen_string_literal: true

# The data that the plugin of type `memory` (spec/support/modules/thirdparty) keeps between catalogs.
module MemoryStore
  @stores = {}
  @lock = Mutex.new

  # @return [Hash] the entries of the store with that name, `memory/<id>`
  def self.entries(name)
    @lock.synchronize { @stores[name] ||= { 'globals' => nil } }
  end

  def self.clear
    @lock.synchronize { @stores.clear }
  end
end
