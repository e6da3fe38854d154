# frozen_string_literal: true

require 'forwardable'

module Simpkv
  # A store above another one, with its methods and their parameters. A layer defines the methods that it changes. It
  # names the keywords that concern it, and passes on the others.
  class Layer
    extend Forwardable

    # The methods of a {Store}, without those that pass by what a layer does to documents.
    INTERFACE = %i[get describe get_many exist? kind stat list tree watch put put_many refuse_put delete deletetree
                   create_folder delete_folder directory close].freeze

    def_delegators :@below, *INTERFACE

    # @return [Store, Layer, Object] the store below
    attr_reader :below

    # @param below [Store, Layer, Object] a {Store}, or an object with its methods
    def initialize(below)
      @below = below
    end

    # @return [String] no values
    def inspect
      "#<#{self.class.name} #{@below.inspect}>"
    end

    private

    # @return [Object, Error] the result of the block, or what it raised
    def attempt
      yield
    rescue Error => e
      e
    end
  end
end
