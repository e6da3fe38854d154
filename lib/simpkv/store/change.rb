# frozen_string_literal: true

module Simpkv
  # What {Store#watch} yields.
  #
  # kind:: `:put`, `:delete`: a key was put or deleted. `:folder`: a folder appeared or was moved: its keys follow.
  #   `:ready`: once, when the watch has begun. `:resync`: changes were lost, and the keys are to be listed.
  #   `:lost`: the server is away, and changes come later. `:back`: they have come
  # key:: the path from the watched folder on, '' for those without one. That of a folder ends in a slash
  # cookie:: from which another watch continues. It may repeat changes
  # complete:: for `:ready`: false if deletions since the cookie are unknown, and the keys are to be listed; else nil
  Change = Struct.new(:kind, :key, :cookie, :complete) do
    # @param kind [String] a letter of skv_changes_next() in simpkv.h
    # @return [Change]
    def self.of(kind, key, cookie)
      new(self::KINDS.fetch(kind), key, cookie, self::COMPLETE[kind])
    end
  end

  # The letters of skv_changes_next(), and the time after which a watch without changes looks for interrupts.
  class Change
    KINDS = { 'p' => :put, 'd' => :delete, 'f' => :folder, 'c' => :ready, 'i' => :ready, 'r' => :resync,
              'l' => :lost, 'b' => :back }.freeze
    COMPLETE = { 'c' => true, 'i' => false }.freeze
    WAIT_MS = 500
  end
end
