# frozen_string_literal: true

require 'simpkv/cli/access/access_command'

module Simpkv
  module Cli
    module Commands
      module Access
        # Deletes declared users, roles and bindings.
        class Delete < AccessCommand
          KINDS = %w[user role binding].freeze
          private_constant :KINDS

          SUMMARY = 'delete declared users, roles and bindings'
          ARGUMENTS = '[OBJECT...]'
          DESCRIPTION = <<~TEXT
            Deletes declared users, roles and bindings from the store, and changes the directory accordingly, as
            simpkv access apply does. An OBJECT is user/NAME, role/NAME or binding/NAME. --all deletes all of them.
            The command deletes only what simpkv has made: a role that existed before keeps its entry, its rights
            and the members that no binding has added. It exits with 2, and changes nothing, where apply would, or
            if a remaining binding names the user or role. It exits with 66 if an object is not declared.

            --narrow-vlv puts back the rules that simpkv access apply --narrow-vlv has deleted; so does --all. It exits
            with 1 if a server does not answer, and apply tries that again.
          TEXT
          EXAMPLES = {
            'simpkv access delete binding/dev role/dev-writers' => 'A binding and its role',
            'simpkv access delete --all' => 'Everything that is declared'
          }.freeze

          def run(*words)
            check(words)
            objects = words.map { |word| object(word) }
            reconcile(->(state) { widened(state.without(chosen(state, objects))) })
          end

          # @return [Array<String>] the objects that an argument may name
          def object_names
            on_access { |access| declared(access.snapshot).map { |section, name| "#{section.chomp('s')}/#{name}" } }
          end

          private

          def define(parser)
            parser.on('--all', 'delete all that are declared') { @all = true }
            parser.on('--narrow-vlv', 'put back the rules that apply --narrow-vlv has deleted') { @widen = true }
          end

          def widened(state)
            (@all || @widen) && state.servers ? state.narrowed(false) : state
          end

          def check(words)
            return unless @all ? words.any? : words.empty? && !@widen

            raise Failure.new('name users, roles or bindings, or --all, and not both (simpkv access delete --help)',
                              Failure::USAGE)
          end

          # @return [Array(String, String)] section and name
          def object(word)
            kind, name = word.split('/', 2)
            return ["#{kind}s", name] if KINDS.include?(kind) && !name.to_s.empty?

            raise Failure.new('expected user/NAME, role/NAME or binding/NAME, such as user/compiler-dev',
                              Failure::USAGE)
          end

          def chosen(state, objects)
            declared = declared(state)
            return declared if @all

            section, name = (objects - declared).first
            return objects unless section

            not_there(name, "there is no declared #{section.chomp('s')}", state[section].keys)
          end

          def declared(state)
            %w[users roles bindings].flat_map { |section| state[section].keys.map { |name| [section, name] } }
          end
        end
      end
    end
  end
end
