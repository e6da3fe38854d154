# frozen_string_literal: true

# A line of a file authorized_keys, as sshd reads it. Needs no gem.
#
# The value of this file is the class.
Class.new do
  # @return [String] bytes, with the newline
  attr_reader :text
  # @return [String, nil] of the key that sshd may find; nil if there is none
  attr_reader :options, :type, :key, :comment

  # @param key [String] base64
  # @return [String, nil] its bytes, without CR, VT and FF, which sshd skips; nil if sshd would not decode it
  def self.decoded(key)
    key.b.delete("\r\v\f").unpack1('m0')
  rescue ArgumentError
    nil
  end

  # @param text [String] bytes, with the newline
  def initialize(text)
    @text = text
    @rest = text.b[/\A[ \t]*([^\0\n]*)/n, 1]
    return if blank?

    read(@rest, '') || read(*after_options)
  end

  # The data of a key begin with AAAA, because they begin with the length of the name of its type.
  #
  # @return [Boolean] whether sshd may find a key, at any place of the line
  def key?
    !blank? && words.any? { |word| word.start_with?('AAAA') }
  end

  # @return [Boolean] whether it is a comment, or blank
  def blank?
    @rest.match?(/\A(?:#|\s*\z)/n)
  end

  # @return [Array<String>] the bytes of all words that may be the data of its key
  def data
    blank? ? [] : words.map { |word| self.class.decoded(word) }.compact
  end

  private

  def words
    @words ||= @rest.split(/[ \t]+/n).map { |word| word.delete("\r\v\f") }
  end

  # Sets the parts, if a key begins here.
  def read(text, options)
    type, key, comment = text.split(/[ \t]+/n, 3)
    return unless key.to_s.delete("\r\v\f").start_with?('AAAA')

    @options, @type, @key, @comment = [options, type, key, comment.to_s.strip].map do |part|
      part.dup.force_encoding(Encoding::UTF_8).scrub('?')
    end
  end

  # @return [Array(String, String)] the text after the options, and the options
  def after_options
    options = @rest[/\A(?>\\"|"(?>\\"|[^"])*(?:"|\z)|[^ \t"])*/n]
    [@rest.delete_prefix(options).sub(/\A[ \t]+/n, ''), options]
  end
end
