# frozen_string_literal: true

require 'simpkv/errors'

module Simpkv
  module Cli
    # An error that ends a command, with a message for the user. The codes are those of sysexits.h.
    class Failure < StandardError
      NO = 1
      CONFLICT = 2
      UNKNOWN = 3
      USAGE = 64
      DATA = 65
      NO_INPUT = 66
      UNAVAILABLE = 69
      SOFTWARE = 70
      CANNOT_CREATE = 73
      IO = 74
      TEMPORARY = 75
      NO_PERMISSION = 77
      CONFIG = 78
      CANNOT_RUN = 126
      NO_PROGRAM = 127

      # The meaning of each code, for the manual.
      MEANINGS = {
        0 => 'Success.',
        NO => 'exists: there is no key or folder of that name. cas: the stored value is not the expected one. ' \
              'node inspect: a rule refuses the node. access plan, access status: there is something to change. ' \
              'access apply, access delete: a rule of a server is not deleted, or not put back. ' \
              'conflicts list: there are conflicts. nodes --fail-if-any: nodes match. status: a warning.',
        CONFLICT => 'access: the directory, or an entry of it, is not the one that the state names, or a binding ' \
                    'names what is not declared. Nothing was changed. status: something is critical.',
        UNKNOWN => 'status: a part of the state is unknown.',
        USAGE => 'The command line is wrong.',
        DATA => 'The input or a stored document is invalid.',
        NO_INPUT => 'There is no such key, folder, node or file.',
        UNAVAILABLE => 'The storage cannot be used now, for instance because a server is down.',
        SOFTWARE => 'An internal error.',
        CANNOT_CREATE => 'An output file cannot be made.',
        IO => 'A file cannot be read or written.',
        TEMPORARY => 'A deadline passed, or another client changed the key meanwhile: try again.',
        NO_PERMISSION => 'No permission, or a wrong password.',
        CONFIG => 'The configuration is wrong.',
        CANNOT_RUN => 'exec: the program cannot be run. A shell has the same code.',
        NO_PROGRAM => 'exec: there is no such program. A shell has the same code.'
      }.freeze

      BY_ERROR = {
        NotFoundError => NO_INPUT, IsFolderError => NO_INPUT, IsKeyError => NO_INPUT, ExistsError => DATA,
        ConflictError => TEMPORARY, InvalidError => DATA, TimeoutError => TEMPORARY, InterruptedError => TEMPORARY,
        DeniedError => NO_PERMISSION, MissingBaseError => CONFIG, UnavailableError => UNAVAILABLE,
        TooLargeError => DATA, MalformedError => DATA, UnencodableError => DATA, ConfigError => CONFIG, AuditError => IO
      }.freeze
      private_constant :BY_ERROR

      # @return [Integer] the exit code
      attr_reader :code

      def initialize(message, code = DATA)
        super(message)
        @code = code
      end

      # @param error [Exception] of the library
      # @return [Integer] its exit code
      def self.code_for(error)
        BY_ERROR.find { |type, _| error.is_a?(type) }&.last || SOFTWARE
      end
    end
  end
end
