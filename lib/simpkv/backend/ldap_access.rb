# frozen_string_literal: true

module Simpkv
  # Checks whether the options of a backend of type ldap are enough to reach a server, and makes the command for an
  # operator who tries the same by hand. `settings` are a result of {Config.typed}.
  module LdapAccess
    URI = %r{\A(ldap|ldaps|ldapi)://[^/?#]}.freeze
    TLS_FILES = { 'tls_cacert' => 'LDAPTLS_CACERT', 'tls_cert' => 'LDAPTLS_CERT', 'tls_key' => 'LDAPTLS_KEY' }.freeze
    # Options of every backend that its store does not take.
    OF_ALL_TYPES = (Config::BACKEND.map(&:name) - %w[id]).freeze
    # Paths that a directory takes for one key only if they are the same.
    PLAIN = %r{\A[a-z0-9._:/-]*\z}.freeze
    # By the fault of an error, what the base entry is then: see {base}.
    UNSEEN = { base_missing: :missing, hidden: :hidden }.freeze
    private_constant :URI, :TLS_FILES, :OF_ALL_TYPES, :PLAIN, :UNSEEN

    # Why options cannot be used. `option` names the one to correct, and `kind` says what is wrong with it: `:missing`,
    # `:invalid`, or for the file that it names `:absent` or `:unreadable`.
    Problem = Struct.new(:text, :option, :kind)

    # The value that a missing option needs.
    WANTED = { 'ldap_uri' => 'the URI of a server, such as ldaps://ldap1.example.com',
               'admin_pw_file' => "the file with the password of 'admin_dn'",
               'tls_cacert' => "the file with the certificate of the server's CA",
               'tls_cert' => 'the file with the certificate that belongs to it',
               'tls_key' => 'the file with the key that belongs to it' }.freeze
    private_constant :WANTED

    # Opens a store. It asks no server yet.
    #
    # @param settings [Hash{String => Object}]
    # @param more [Hash{String => Object}] options of {Store.open} that differ
    # @return [Store]
    # @raise [InvalidError] the options are not enough: see {problem}
    def self.open(settings, more = {})
      problem = problem(settings)
      raise InvalidError, "#{problem.text}: #{remedy(settings, problem)}" if problem

      Store.open('ldap', store_options(settings).merge(more))
    end

    # Opens a store for the block.
    #
    # @param settings (see open)
    # @param more (see open)
    # @yieldparam store [Store]
    # @return [Object] that of the block
    # @raise (see open)
    def self.with_store(settings, more = {})
      store = self.open(settings, more)
      yield store
    ensure
      store&.close
    end

    # @param settings [Hash{String => Object}]
    # @return [Hash{String => Object}] the options that a store takes
    def self.store_options(settings)
      settings.reject { |name, _| OF_ALL_TYPES.include?(name) }
    end

    # @param settings [Hash{String => Object}] of a backend of any type
    # @return [Boolean] whether paths that differ in the case of letters, and the like, are one key
    def self.folds_names?(settings)
      settings['type'] == 'ldap' && settings['layout'] == 'plain'
    end

    # @param path [String] in a directory that {folds_names?}
    # @return [String] the same for all paths that are one key
    def self.canonical(path)
      path.match?(PLAIN) ? path : path.split('/').map { |name| Isolation.folded(name) }.join('/')
    rescue ArgumentError # invalid bytes
      path
    end

    # Reads the base entry of a store. The identity of a role sees only its own folders: for it, that entry is hidden.
    #
    # @param store [Store]
    # @return [:visible, :hidden, :missing] `:hidden` also for a missing entry, if the identity sees no entry above it
    # @raise [Error] as {Store#exist?}, for instance if the server refuses the bind
    def self.base(store)
      store.exist?('') ? :visible : :missing
    rescue Error => e
      UNSEEN.fetch(e.fault) { raise }
    end

    # @param error [Error]
    # @return [Boolean] whether the identity saw no base entry: it is missing or hidden
    def self.unseen_base?(error)
      UNSEEN.key?(error.fault)
    end

    # @param settings [Hash{String => Object}]
    # @param uri [String] one of its servers
    # @return [Boolean] whether connections to this server need TLS
    def self.tls?(settings, uri)
      uri.start_with?('ldaps:') || (settings['enable_tls'] == true && uri.start_with?('ldap:'))
    end

    # Checks the options together; each of them is valid.
    #
    # @param settings [Hash{String => Object}]
    # @return [Problem, nil] the reason why they cannot be used; nil if they can
    def self.problem(settings)
      uri_problem(settings) || password_problem(settings) || tls_problem(settings)
    end

    # @param settings [Hash{String => Object}]
    # @param problem [Problem]
    # @return [String] the remedy
    def self.remedy(settings, problem)
      name = problem.option
      case problem.kind
      when :missing then "set '#{name}' to #{WANTED.fetch(name)}"
      when :invalid then "correct '#{name}'"
      when :absent then "#{making(name, settings)}, or correct '#{name}'"
      else
        'let that user read it (owner, group and mode of the file and of the folders above), or run simpkv as the ' \
        "user that '#{name}' is for"
      end
    end

    # @param settings [Hash{String => Object}]
    # @return [String, nil] the {problem} and its {remedy}, for the state of a site and for all commands that open a
    #   directory; nil if there is none
    def self.advised_problem(settings)
      problem = problem(settings)
      problem && "configuration error: #{problem.text}: #{remedy(settings, problem)}"
    end

    # Finds files with secrets that every local user can read or change, and a password that a server refuses.
    #
    # @param settings [Hash{String => Object}]
    # @return [Array<String>] a warning for each, with advice
    def self.warnings(settings)
      open_files(settings).values.map { |warning| warning.join(': ') } +
        refused_passwords.select { |file, _| file == settings['admin_pw_file'] }.values
    end

    # @param settings [Hash{String => Object}]
    # @return [Hash{String => Array(String, String)}] by the option of a file with secrets that every local user can
    #   read or change: a warning, and advice
    def self.open_files(settings)
      files = settings.slice('admin_pw_file', 'tls_key').compact
      files.select { |_, file| File.exist?(file) && !File.directory?(file) }
           .to_h { |name, file| [name, open_file("'#{name}' #{file}", file)] }.compact
    end

    # Finds options that let several servers take writes at a time: each process by itself writes to the next server of
    # `ldap_uri` while it cannot reach the first one.
    #
    # @param settings [Hash{String => Object}]
    # @return [String, nil] a warning, with advice behind a colon
    def self.writer_warning(settings)
      return if settings['write_uri'] || settings['ldap_uri'].to_s.split.length < 2

      "'ldap_uri' names several servers, and no 'write_uri' says which one takes writes, so that two of them can, " \
        "and one key can get two values: set 'write_uri' to one server (docs/high-availability.md)"
    end

    # Finds password files that were changed before the directory. The connections of this process use the password
    # before the change.
    #
    # @return [Hash{String => String}] by file, a warning with advice
    def self.refused_passwords
      files = Simpkv.stats['pools'].map { |pool| pool['refused_password_file'] }.compact
      files.to_h do |file|
        [file, "a server refuses the password in 'admin_pw_file' #{file}: this process still binds with the one " \
               'before, and no new process can: give the user that password in the directory (simpkv access apply ' \
               'does), or correct the file']
      end
    end

    # @param name [String] names the file in the message
    # @param file [String] with a secret
    # @return [Array(String, String), nil] a warning and advice, if every local user can read or change it
    # @raise [SystemCallError]
    def self.open_file(name, file)
      stat = File.stat(file)
      return if stat.mode.nobits?(0o007)

      # This user may be one of the others.
      mine = stat.owned? || stat.grpowned? || Process.euid.zero?
      [format('%<name>s is open to every local user (mode %<mode>04o)', name: name, mode: stat.mode & 0o7777),
       "#{mine ? 'chmod o=' : "chgrp #{Process.egid} #{file} && chmod g=r,o="} #{file}"]
    end

    # Returns the shell command that reads the base entry. The password stays in its file. ldapsearch uses the whole
    # file as password, so the command cuts off a newline at its end, which simpkv ignores.
    #
    # @param settings [Hash{String => Object}] without a {problem}
    # @param search [Array<String>] the rest of the command, for another search from the base entry on
    # @return [String] one line
    def self.command(settings, search = %w[-s base 1.1])
      line(settings, %w[ldapsearch -LLL], ['-b', settings['base_dn'], *search])
    end

    # Returns the shell command that deletes an entry.
    #
    # @param settings [Hash{String => Object}] without a {problem}
    # @param name [String] its DN
    # @param options [Array<String>] of ldapdelete; by default, it deletes all below the entry as well
    # @return [String] one line
    def self.deletion(settings, name, options = %w[-r])
      line(settings.merge('ldap_uri' => settings['write_uri'] || settings['ldap_uri']), ['ldapdelete', *options],
           [name])
    end

    # @param settings [Hash{String => Object}]
    # @param path [String] of a folder, such as `environments/dev`
    # @return [String] its DN
    def self.folder_dn(settings, path)
      Native.dn_from_path(settings['layout'].to_sym, :folder, settings['base_dn'], settings['id'], path)
    end

    # @param settings [Hash{String => Object}]
    # @return [String] the DN of the entry above all folders of a store
    def self.instance_dn(settings)
      folder_dn(settings, 'globals').sub(/\A(\\.|[^,\\])*,/m, '')
    end

    # @param settings [Hash{String => Object}]
    # @return [Array<String>] of all servers
    def self.uris(settings)
      settings.values_at('ldap_uri', 'write_uri').compact.flat_map(&:split)
    end

    # @param words [Array<String>]
    # @return [String] a command line of them, with the quotes that a shell needs
    def self.shell(words)
      words.map { |word| quoted(word) }.join(' ')
    end

    class << self
      private

      # @return [String] the command of an OpenLDAP client
      def line(settings, program, arguments)
        newline = newline_length(settings['admin_pw_file'])
        password = newline.zero? ? settings['admin_pw_file'] : '/dev/stdin'
        words = [*program, *('-ZZ' if starttls?(settings)), '-H', settings['ldap_uri'],
                 *identity(settings, password), *arguments]
        cut = ["head -c -#{newline}", quoted(settings['admin_pw_file']), '|'] unless newline.zero?
        [*cut, *tls_variables(settings), shell(words)].join(' ')
      end

      def uri_problem(settings)
        return missing('ldap_uri') if settings['ldap_uri'].nil?

        %w[ldap_uri write_uri].each do |name|
          wrong = settings[name].to_s.split.find { |uri| !uri.match?(URI) }
          next unless wrong

          return Problem.new("Invalid '#{name}' configuration: '#{wrong}' is not ldap://HOST, ldaps://HOST or " \
                             'ldapi://PATH with %2F for each slash of the path', name, :invalid)
        end
        nil
      end

      def password_problem(settings)
        return file_problem(settings, 'admin_pw_file') if settings['admin_pw_file']
        return if uris(settings).all? { |uri| uri.start_with?('ldapi:') }

        missing('admin_pw_file')
      end

      def making(name, settings)
        return 'make it' unless name == 'admin_pw_file'

        "write the password of #{settings['admin_dn']} into it, readable by its owner alone"
      end

      def missing(name)
        Problem.new("Plugin missing '#{name}' configuration", name, :missing)
      end

      def tls_problem(settings)
        return unless any_tls?(settings)

        lacking_tls_file(settings) ||
          TLS_FILES.keys.map { |name| file_problem(settings, name) if settings[name] }.compact.first
      end

      def lacking_tls_file(settings)
        lacking = TLS_FILES.keys.reject { |name| settings[name] }
        wrong = "'tls_cert' and 'tls_key' come as a pair" if lacking.length == 1
        wrong = "'tls_cacert' is missing" if lacking.include?('tls_cacert')
        Problem.new("TLS configuration incomplete: #{wrong}", lacking.first, :missing) if wrong
      end

      def file_problem(settings, name)
        file = "Configured '#{name}' #{settings[name]}"
        return Problem.new("#{file} is a folder, not a file", name, :invalid) if File.stat(settings[name]).directory?

        Problem.new("#{file} cannot be read by #{user}", name, :unreadable) unless File.readable?(settings[name])
      rescue Errno::ENOENT
        Problem.new("#{file} does not exist", name, :absent)
      rescue SystemCallError => e
        Problem.new("#{file} cannot be read by #{user}: #{e.class.new.message}", name, :unreadable)
      end

      # @return [String] the user of this process
      def user
        require 'etc'
        "the user #{Etc.getpwuid(Process.euid).name}"
      rescue ArgumentError
        "the user #{Process.euid}"
      end

      def any_tls?(settings)
        uris(settings).any? { |uri| tls?(settings, uri) }
      end

      def starttls?(settings)
        settings['enable_tls'] && uris(settings).any? { |uri| uri.start_with?('ldap:') }
      end

      def tls_variables(settings)
        files = any_tls?(settings) ? TLS_FILES.select { |name, _| settings[name] } : {}
        files.map { |name, variable| "#{variable}=#{quoted(settings[name])}" }
      end

      def quoted(word)
        word.match?(%r{\A[\w=,.:/%@+-]+\z}) ? word : "'#{word.gsub("'") { "'\\''" }}'"
      end

      def identity(settings, password)
        return ['-Q', '-Y', 'EXTERNAL'] unless settings['admin_pw_file']

        ['-x', '-D', settings['admin_dn'], '-y', password]
      end

      # @return [Integer] the bytes of the newline at the end of the file; 0 without one, or if it cannot be read
      def newline_length(file)
        return 0 unless file && File.file?(file)

        File.binread(file)[/\r?\n\z/].to_s.length
      rescue SystemCallError
        0
      end
    end
  end
end
