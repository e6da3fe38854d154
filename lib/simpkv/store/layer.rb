# frozen_string_literal: true

require 'forwardable'

module Simpkv
  # A store above another one, with its methods. A layer defines those that it changes.
  class Layer
    extend Forwardable

    # The methods of a {Store}. A plugin's backend has those that are for keys and folders.
    INTERFACE = %i[get describe get_many exist? kind stat list tree watch put put_many refuse_put delete
                   deletetree create_folder delete_folder read_entry entries add_entry modify_entry extend_entry
                   delete_entry set_entry_password password? close].freeze

    def_delegators :@below, *INTERFACE

    # @return [Store, Layer, Object] the store below
    attr_reader :below

    # @param below [Store, Layer, Object] a {Store}, or an object with its methods
    def initialize(below)
      @below = below
    end

    # @return [Layer] this layer, over {Store#within}
    def within(deadline)
      below = @below.within(deadline)
      below.equal?(@below) ? self : dup.tap { |layer| layer.below = below }
    end

    # @return [String] no values
    def inspect
      "#<#{self.class.name} #{@below.inspect}>"
    end

    protected

    attr_writer :below
  end
end
