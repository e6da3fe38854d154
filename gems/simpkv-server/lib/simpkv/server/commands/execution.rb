# frozen_string_literal: true

require 'simpkv/server/problem'

module Simpkv
  module Server
    module Commands
      # Carries out commands.
      module Execution
        # @param command [ReplaceFacts, ReplaceCatalog, StoreReport, DeactivateNode]
        # @param estate [Estate]
        # @return [Boolean] whether it did something; false if something newer of the node is stored
        # @raise [Problem, Error, ConfigError]
        def self.of(command, estate)
          demand_name(command.certname, estate)
          Estate::Run.current.at_writer { command.save(estate) }
        rescue UnencodableError # Its message has the path inside a value, which could show a part of a secret.
          raise Problem.new(400, 'the payload has a value that no document can hold'), cause: nil
        ensure
          Estate::Run.current.forget
        end

        def self.demand_name(certname, estate)
          estate.inventory.check_key(certname)
        rescue InvalidError, TooLargeError => e
          raise Problem.new(400, "certname: #{e.message}"), cause: nil
        end
        private_class_method :demand_name
      end
    end
  end
end
