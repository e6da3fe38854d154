# frozen_string_literal: true

# What the plugin of type `memory` (spec/support/modules/thirdparty) keeps beyond the life of a catalog.
module MemoryStore
  @stores = {}
  @lock = Mutex.new

  # @return [Hash] what is stored under that name, `memory/<id>`
  def self.entries(name)
    @lock.synchronize { @stores[name] ||= { 'globals' => nil } }
  end

  def self.clear
    @lock.synchronize { @stores.clear }
  end
end
