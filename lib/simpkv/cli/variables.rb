# frozen_string_literal: true

module Simpkv
  module Cli
    # Variables of the environment, made of keys and their values. Whoever may write a folder chooses the names of its
    # keys, so that a name must not change how a shell or a program behaves. No list of such names is complete: a
    # prefix, which the user of the command chooses, keeps all of them out.
    module Variables
      # What a shell, the dynamic loader, an interpreter or a common program obeys, or does not let a program set.
      OBEYED = /\A(
        PATH|HOME|PWD|OLDPWD|IFS|ENV|CDPATH|FPATH|ZDOTDIR|R?PS\d|R?PROMPT.*|SHELL.*|BASH.*|KSH.*|ZSH.*|E?UID|
        PPID|GROUPS|DIRSTACK|OPT(IND|ARG|ERR)|HIST.*|MAIL.*|TMOUT|GLOBIGNORE|EXECIGNORE|FIGNORE|FUNCNEST|INPUTRC|
        LINENO|FCEDIT|EDITOR|VISUAL|[A-Z]*PAGER|BROWSER|LESS.*|TERM.*|TZ.*|TMP|TEMP|TMPDIR|POSIXLY_CORRECT|
        LANG.*|LC_.*|LOCPATH|NLSPATH|LD_.*|DYLD_.*|GLIBC_.*|GCONV_PATH|MALLOC_.*|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|
        RUBY.*|GEM_.*|BUNDLE_.*|JRUBY_.*|PERL.*|PYTHON.*|NODE_.*|NPM_.*|LUA_.*|PHPRC|PHP_INI_.*|
        CLASSPATH|JAVA_HOME|(JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS|MAVEN_OPTS|
        GIT_.*|CVS_.*|RSYNC_.*|SSH_.*|SUDO_.*|TAR_.*|MAKE(FLAGS|FILES)?|CURL_.*|WGETRC|(HTTPS?|FTP|ALL|NO)_PROXY|
        SSL_CERT_(FILE|DIR)|SSLKEYLOGFILE|OPENSSL_.*|KRB5.*|GNUPGHOME|LDAP.*|XDG_.*|DBUS_.*|DISPLAY|XAUTHORITY|
        SYSTEMD_.*|LISTEN_(FDS|FDNAMES|PID)|NOTIFY_SOCKET|FACTER_.*|SIMPKV_.*
      )\z/x.freeze
      NAME = /\A[A-Z_][A-Z0-9_]*\z/.freeze
      private_constant :OBEYED, :NAME

      class << self
        # @param key [String]
        # @param prefix [String] its beginning; may be empty
        # @return [String] the name of the variable of a key
        # @raise [UnencodableError] no variable may have that name
        def name(key, prefix)
          name = "#{prefix}#{key}".upcase.gsub(/[^A-Z0-9_]/, '_')
          why = 'is no name of a variable' unless name.match?(NAME)
          why ||= 'is a variable that a shell or another program obeys' if name.match?(OBEYED)
          return name unless why

          raise UnencodableError, "'#{name}' #{why}: another --prefix makes another name"
        end

        # @param value [Object] plain data, or bytes
        # @return [String] the same in a variable: text and bytes as they are, other values as JSON
        # @raise [UnencodableError] no variable can hold it
        def text(value)
          text = value.is_a?(Array) || value.is_a?(Hash) ? Native.generate(value) : value.to_s
          return text unless text.include?("\0")

          raise UnencodableError, 'it has the character U+0000, which no variable can hold'
        end

        # @param value [Object] plain data
        # @return [String] a word that a shell reads as the {text} of the value
        # @raise [UnencodableError] no variable can hold it, or it is bytes
        def word(value)
          raise UnencodableError, 'it is bytes, not text' if RichData.binary?(value)

          "'#{text(value).gsub("'") { "'\\''" }}'"
        end
      end
    end
  end
end
