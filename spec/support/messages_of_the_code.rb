# frozen_string_literal: true

# The texts in which the specs of pages look for quoted messages: the sources of Ruby, with texts joined that go over
# several lines, and the library of the core, which has the texts of C.
module MessagesOfTheCode
  ROOT = File.expand_path('../..', __dir__)
  private_constant :ROOT

  # @param except [Regexp, nil] files to leave out, which hold quotations themselves
  def self.read(except: nil)
    files = Dir[File.join(ROOT, '{lib,gems/*/lib}/{simpkv,puppet_x}/**/*.rb')].reject { |file| except&.match?(file) }
    ruby = files.map { |file| File.binread(file) }.join.gsub(/["'] \\?\n\s*["']/n, '')
    ruby + File.binread(File.join(ROOT, 'ext/core/build/release/libsimpkv.so'))
  end
end
