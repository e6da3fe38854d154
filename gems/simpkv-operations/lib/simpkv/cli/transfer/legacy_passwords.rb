# frozen_string_literal: true

module Simpkv
  module Cli
    # The passwords of simplib::passgen in files, as the source of a transfer:
    #
    #     <vardir>/simp/environments/<env>/simp_autofiles/gen_passwd/<id>, <id>.salt, <id>.last, <id>.salt.last
    #
    # become keys `gen_passwd/<id>` with the value {password, salt}, and the metadata {complexity, complex_only,
    # history}.
    class LegacyPasswords
      FILES = 'simp_autofiles/gen_passwd'
      private_constant :FILES

      # @return [Hash{String => String}] by path, the defect of a password that is stored nevertheless
      attr_reader :warnings

      # @param vardir [String] of Puppet
      # @param settings [Hash] `complexity` and `complex_only`, which the files do not contain
      def initialize(vardir, settings)
        @environments = File.join(vardir, 'simp/environments')
        @settings = settings
        @warnings = {}
        return if File.directory?(@environments)

        raise Failure.new("#{@environments}: there is no such folder: --vardir says where Puppet's is", Failure::NO_INPUT)
      end

      def title
        @environments
      end

      # @param roots [Array<String>] `environments`, or `environments/<env>`
      # @param errors [Hash{String => String}] filled with the keys that cannot be read
      # @yieldparam path [String]
      # @yieldparam document [String]
      # @return [void]
      def each(roots, errors)
        ids(roots, errors).each do |path|
          yield path, read(path)
        rescue SystemCallError, Simpkv::Error => e
          errors[path] = e.message
        end
      end

      # @param paths [Array<String>]
      # @return [Hash{String => String}] their new documents
      def read_many(paths)
        paths.to_h { |path| [path, read(path)] }
      end

      private

      # @return [String] the new document of a path
      def read(path)
        _, environment, _, id = path.split('/', 4)
        file = File.join(@environments, environment, FILES, id)
        Codec.encode({ 'password' => text(file), 'salt' => salt(path, "#{file}.salt") }, metadata(file))
      end

      # @return [Array<String>] the paths of the keys
      def ids(roots, errors)
        chosen = Dir.children(@environments).sort.select do |environment|
          roots.any? { |root| ['environments', "environments/#{environment}"].include?(root) }
        end
        chosen.flat_map { |environment| ids_in(environment, errors) }
      end

      def ids_in(environment, errors)
        folder = File.join(@environments, environment, FILES)
        return [] unless File.directory?(folder)

        place = "environments/#{environment}/gen_passwd"
        files, others = Dir.children(folder).sort.partition { |name| File.lstat(File.join(folder, name)).file? }
        others.each { |name| errors["#{place}/#{name}"] = 'it is no file, and links are not followed' }
        passwords(files).map { |id| "#{place}/#{id}" }
      end

      # An id can itself end in .last or .salt. Then no file without that ending exists.
      def passwords(names)
        names.reject do |name|
          name.end_with?('.salt', '.last') && names.include?(name.sub(/(\.salt)?(\.last)?\z/, ''))
        end
      end

      def metadata(file)
        last = "#{file}.last"
        history = File.exist?(last) ? [[text(last), optional("#{file}.salt.last")]] : []
        { 'complexity' => @settings.fetch('complexity'), 'complex_only' => @settings.fetch('complex_only'),
          'history' => history }
      end

      def salt(path, file)
        @warnings[path] = 'it has no salt: an empty one is stored' unless File.exist?(file)
        optional(file)
      end

      def optional(file)
        File.exist?(file) ? text(file) : ''
      end

      # Removes one newline at the end.
      def text(file)
        content = File.open(file, File::RDONLY | File::NOFOLLOW, &:read).force_encoding(Encoding::UTF_8).delete_suffix("\n")
        content.valid_encoding? ? content : raise(MalformedError, 'it is not UTF-8 text')
      end
    end
  end
end
