# frozen_string_literal: true

# Random paths, of names that a directory accepts in both layouts.
module Paths
  # The usual characters of keys, the characters that RFC 4514 escapes, and some beyond ASCII.
  CHARACTERS = [*'a'..'z', *'0'..'9', '.', '_', ':', '-', 'A', ' ', '"', '+', ',', ';', '<', '>', '=', '#', '\\', '*',
                '(', ')', "\n", "\u007f", 'é', 'λ', '漢', '😀', "\u00a0"].freeze
  private_constant :CHARACTERS

  # @return [Array(Symbol, String)] :key or :folder, and the path
  def self.any(random)
    kind = random.rand(2).zero? ? :key : :folder
    root = random.rand(3).zero? ? ['globals'] : ['environments', name(random, CHARACTERS.first(36))]
    names = Array.new(random.rand(kind == :key ? 1..6 : 0..6)) { name(random) }
    [kind, [*root, *names].join('/')]
  end

  def self.name(random, characters = CHARACTERS)
    loop do
      name = Array.new(random.rand(1..20)) { characters.sample(random: random) }.join
      return name unless ['.', '..'].include?(name)
    end
  end
  private_class_method :name
end
