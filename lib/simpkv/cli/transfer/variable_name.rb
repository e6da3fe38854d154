# frozen_string_literal: true

module Simpkv
  module Cli
    # Names of variables for a shell, which are made of keys. Whoever may write a folder chooses the names of its keys,
    # so that a name must not change how a shell or a program behaves. No list of such names is complete: a prefix,
    # which the user of the command chooses, keeps all of them out.
    module VariableName
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

      # @param key [String]
      # @param prefix [String] its beginning; may be empty
      # @return [Array(String, String)] the name, and why no variable may have it; nil if one may
      def self.of(key, prefix)
        name = "#{prefix}#{key}".upcase.gsub(/[^A-Z0-9_]/, '_')
        why = 'is no name of a variable' unless name.match?(NAME)
        why ||= 'is a variable that a shell or another program obeys' if name.match?(OBEYED)
        [name, why && "'#{name}' #{why}: another --prefix makes another name"]
      end
    end
  end
end
