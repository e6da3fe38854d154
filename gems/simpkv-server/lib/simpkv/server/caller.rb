# frozen_string_literal: true

module Simpkv
  module Server
    # The one who sent a request, as {Credentials} have found out: a local user on a Unix socket, any local process on a
    # loopback port, the holder of a client certificate, a person who has signed in, a program with a token, or nobody
    # known. Names of different kinds have nothing to do with each other.
    class Caller
      # The name of every local process in logs.
      LOCAL = 'local'

      # @return [Symbol] :user, :local, :certname, :account, :token or :nobody
      attr_reader :kind

      # @return [String, nil] the name of the user, of the certificate or of the account, or the ID of the token; nil
      #   for a local process and for nobody
      attr_reader :name

      # @return [Array<String>] the groups of an account
      attr_reader :groups

      # @return [SignIn::Sessions::Session, nil] that of an account, if it asks by itself, and no token of it
      attr_reader :session

      # @return [Tokens::Token, nil] that of a program
      attr_reader :token

      # @param kind [Symbol]
      # @param name [String, nil]
      # @param uid [Integer, nil] of a local user
      def initialize(kind, name, uid = nil, groups: [], session: nil, token: nil)
        @kind = kind
        @name = name
        @uid = uid
        @groups = groups
        @session = session
        @token = token
      end

      # @return [Boolean] whether this is root, or the user of the service, who can read all that the service can
      def owner?
        @kind == :user && [0, Process.euid].include?(@uid)
      end

      # @param kind [Symbol] of an entry of `rights`
      # @param name [String]
      # @return [Boolean] whether the entry is for this caller
      def named?(kind, name)
        kind == :group ? @groups.include?(name) : kind == @kind && name == @name
      end

      # @return [String] for the log of requests and the audit log
      def to_s
        case @kind
        when :local then LOCAL
        when :certname then name
        else [@kind, *@name].join(':')
        end
      end
    end
  end
end
