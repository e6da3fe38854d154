# frozen_string_literal: true

module Simpkv
  # The documents of a list that the core leaves encrypted, for {EncryptedStore}: those of plugins, and those of names
  # with capital letters and the like, whose path in the header may be another one.
  class EncryptedListing
    # @param left [Regexp, nil] matches the names of these documents
    # @param block [Proc, nil] of the caller of the list, as of {Store#list}
    # @yieldparam name [String]
    # @yieldparam raw [String]
    # @yieldreturn [String, Error] the plain document
    def initialize(left, block, &decrypt)
      @left = left
      @block = block
      @decrypt = decrypt
    end

    # @return [Proc, nil] the block for the list of the store below
    def early
      return @block unless @block && @left

      proc { |name, document| @left.match?(name) ? document : @block.call(name, document) }
    end

    # Decrypts the documents that are left.
    #
    # @param result [Hash] of the store below, which is changed
    # @return [Hash{String => String}] by name, why a document could not be decrypted
    def finish(result)
      names = @left ? result[:keys].keys.grep(@left) : []
      names.each_with_object({}) do |name, failed|
        document = @decrypt.call(name, result[:keys][name])
        if document.is_a?(Error)
          result[:keys].delete(name)
          failed[name] = document.message
        else
          result[:keys][name] = @block ? @block.call(name, document) : document
        end
      end
    end
  end
  private_constant :EncryptedListing
end
