# frozen_string_literal: true

require 'set'

module Simpkv
  class Estate
    # Tells which parts of the estate are missing when all keys of a store are read, as for a backup: folders with a
    # marker, documents that the inventory names, and documents in whose place there is something else.
    class Completeness
      # By subject: the folders that its documents have above them, if these are not in the folder of the subject.
      DEPTHS = { 'exported' => 1, 'reports' => 1 }.freeze
      UNKNOWN = 'it is not known whether all of it is there, because documents that tell are encrypted, and are not ' \
                'decrypted here'
      private_constant :DEPTHS, :UNKNOWN

      # @param folders [Array<String>] the paths of folders of a store
      # @param keys [Enumerable<String>] the paths of keys
      # @return [Hash{String => String}] by path of a folder in place of a document, or a document in place of a folder:
      #   why it cannot be read
      def self.misplaced(folders, keys)
        wrong = at_depth(folders, 1).to_h { |path| [path, Documents::NO_DOCUMENT] }
        at_depth(keys, 0).each { |path| wrong[path] = Documents::NO_FOLDER }
        wrong
      end

      # @param more [Integer] the number of names that they have more than the folder of documents of their subject
      # @return [Array<String>] those of the paths that are below the folder of a subject, and no markers
      def self.at_depth(paths, more)
        paths.select do |path|
          subject, *names = below(path)
          (MARKED + MARKED_LATER).include?(subject) && names.any? && names.last != MARKER &&
            names.length == depth(subject, names) + more
        end
      end
      private_class_method :at_depth

      # The details of reports have a folder beside the reports of each node.
      def self.depth(subject, names)
        DEPTHS.fetch(subject, 0) + (subject == 'reports' && names[1] == ReportDetails::NAME ? 1 : 0)
      end
      private_class_method :depth

      # @param path [String] in the store
      # @return [Array<String>, nil] its names below the estate's folder; nil if it is not below that
      def self.below(path)
        path.delete_prefix("#{FOLDER}/").split('/') if path.start_with?("#{FOLDER}/")
      end

      # @param roots [Array<String>] the paths of the folders that are read, with all that is below them
      # @param demanded [Boolean] whether there must be an estate in the store
      # @param decrypt [#call] gets a path and the document there as it was read. It returns the document in plain if it
      #   can, or raises a {MalformedError} or {DeniedError}, which the reading of all keys tells as well
      def initialize(roots, decrypt, demanded: false)
        @roots = roots
        @demanded = demanded
        @decrypt = decrypt
        @markers = {}
        @records = {}
        @found = Set.new
        @unknown = {}
      end

      # @param path [String] of a key that was found
      # @param document [String]
      # @return [void]
      def see(path, document)
        *folder, name = Completeness.below(path)
        return @markers[File.dirname(path)] = plain(path, document) if name == MARKER

        @found << path if name
        @records[name] = document if folder == ['inventory']
      end

      # @param folders [Array<String>] the paths of all folders that were found
      # @param store [Store] which was read. Nodes may have run meanwhile
      # @return [Hash{String => String}] by path, why something cannot be read. Documents without any marker are an
      #   estate of an early version, of which nothing is known
      def faults(folders, store)
        return absent if @markers.empty?

        Completeness.misplaced(folders, @found).merge(lost_folders, lost_documents(store), @unknown)
      end

      private

      # @return [String] the document; an empty one if it is damaged
      def plain(path, document)
        plain = @decrypt.call(path, document)
        @unknown[FOLDER] = UNKNOWN if Codec.encrypted?(plain)
        plain
      rescue MalformedError, DeniedError
        ''
      end

      def absent
        @demanded && @found.empty? && read?(FOLDER) ? { FOLDER => MissingError.marker.message } : {}
      end

      def lost_folders
        lost = Markers.lost(@markers).select { |path| read?(path) }
        lost.to_h { |path| [path, MissingError.marker(*Completeness.below(path)).message] }
      end

      def read?(path)
        @roots.any? { |root| "#{path}/".start_with?("#{root}/") }
      end

      # @return [Hash{String => String}]
      def lost_documents(store)
        @records.each_with_object({}) do |(name, record), lost|
          places = named(name, record).map { |folder| [FOLDER, *folder, name].join('/') }
          places.reject! { |path| @found.include?(path) || !@markers.key?(File.dirname(path)) }
          places.each { |path| lost[path] = Inventory.lost(path, name) if lost?(path, name, record, store) }
        end
      end

      # @return [Array<Array<String>>]
      def named(name, document)
        record = Codec.decode(plain("#{FOLDER}/inventory/#{name}", document))[:value]
        record.is_a?(Hash) ? Inventory.named(record) : []
      rescue MalformedError
        [] # The reading has another error for it.
      end

      # If the record is the same before and after the document, no save has ended in between.
      def lost?(path, name, record, store)
        store.get(path, required: false).nil? && store.get("#{FOLDER}/inventory/#{name}", required: false) == record
      rescue Error
        false # The reading has the same error.
      end
    end
  end
end
