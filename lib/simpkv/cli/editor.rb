# frozen_string_literal: true

require 'fileutils'
require 'shellwords'
require 'tmpdir'

module Simpkv
  module Cli
    # Runs the user's editor on a text in a private file in a private folder, in memory if the system has such a place.
    # At the end, and after a signal, overwrites and removes all files in the folder, including backups of the editor.
    class Editor
      MEMORY = '/dev/shm'
      private_constant :MEMORY

      # @param text [String]
      # @param suffix [String] of the file's name, which tells editors the format
      # @yieldparam [Editor]
      # @return the value of the block
      # @raise [Failure, SystemCallError]
      def self.open(text, suffix)
        folder = Dir.mktmpdir('simpkv-', ENV['TMPDIR'] || (MEMORY if File.writable?(MEMORY)))
        yield new(File.join(folder, "value#{suffix}"), text)
      ensure
        wipe(folder) if folder
      end

      # @param folder [String]
      # @return [void]
      def self.wipe(folder)
        Dir.glob(File.join(folder, '**', '*'), File::FNM_DOTMATCH).each { |file| overwrite(file) if File.file?(file) }
      ensure
        FileUtils.remove_entry(folder)
      end

      def self.overwrite(file)
        File.open(file, File::WRONLY | File::NOFOLLOW) do |stream|
          stream.write("\0" * stream.size)
          stream.fsync
        end
      rescue SystemCallError
        nil # It is removed at least.
      end
      private_class_method :overwrite

      def initialize(file, text)
        @file = file
        File.open(file, File::WRONLY | File::CREAT | File::EXCL, 0o600) { |stream| stream.binmode.write(text) }
      end

      # Runs the editor until it ends.
      #
      # @return [String] the bytes of the file
      # @raise [Failure] the editor is missing or failed
      def edit
        status = run(command)
        return File.binread(@file) if status.success?

        raise Failure.new("the editor failed (#{status.to_s.sub(/\Apid \d+ /, '')}): nothing was stored",
                          Failure::UNAVAILABLE)
      rescue Errno::ENOENT, Errno::EACCES
        raise Failure.new("'#{command.first}' cannot be run, or left no file: set VISUAL or EDITOR to an editor",
                          Failure::UNAVAILABLE)
      end

      private

      # @return [Array<String>]
      def command
        named = ENV.values_at('VISUAL', 'EDITOR').find { |name| !name.to_s.strip.empty? }
        Shellwords.split(named || 'vi')
      rescue ArgumentError
        raise Failure.new('VISUAL or EDITOR has a quote that is not closed', Failure::USAGE)
      end

      # Leaves Ctrl-C to the editor, as a shell does.
      def run(words)
        former = %w[INT QUIT].to_h { |signal| [signal, Signal.trap(signal) { nil }] }
        Process.wait2(Process.spawn([words.first, words.first], *words.drop(1), @file)).last
      ensure
        former&.each { |signal, handler| Signal.trap(signal, handler) }
      end
    end
  end
end
