# frozen_string_literal: true

require 'json'
require 'time'
require 'simpkv/cli/awaited_folder'
require 'simpkv/cli/command'
require 'simpkv/cli/polled_changes'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    module Commands
      # Prints changes as they happen.
      class Watch < Command
        include Versioned

        SECTION = :keys
        SUMMARY = 'print changes as they happen'
        ARGUMENTS = '[FOLDER]'
        DESCRIPTION = <<~TEXT
          Prints a line for each change of a key in a folder and in all folders below it, until it is interrupted: the
          time, the change, and the key, from the folder on. The first line is "ready": no change after it is missed.
          With -o json, prints an object on a line for each change, with the cookie from which --since continues. A
          folder that does not exist yet is awaited: its first keys are printed when it is there. If it is deleted
          later, the command exits with 66.

          put and delete name a key. After "folder", all keys of that folder follow. After "resync",
          changes were lost: list the folder anew. A change may be printed more than once, and of several changes of
          one key only the last one is certain to be printed. With --since, "ready" says whether deletions since the
          cookie are unknown.

          Files are watched by inotify, which does not see what other machines change on a network file system:
          simpkv watch refuses these. OpenLDAP tells of changes with the overlay syncprov (simpkv schema --form
          watch), and 389 Directory Server by persistent search, which has no cookies. When the server is away or
          hangs, simpkv watch connects again for 5 minutes, to any server, and prints what has changed meanwhile, or
          "resync" if that server may lag. For other storage, --poll lists the folder again and again, with all
          documents, and prints what differs: a key that changed and changed back is not seen.
        TEXT
        EXAMPLES = {
          'simpkv watch app1' => 'The changes in a folder',
          'simpkv watch -g -o json' => 'The global keys, for a program',
          "simpkv watch -e ''" => 'All environments',
          'simpkv watch app1 --count 1' => 'Wait for the next change',
          'simpkv watch app1 --poll 30' => 'On a network file system: compare it every 30 seconds',
          'simpkv watch app1 --since file:1790000000000000000' => 'From a cookie on'
        }.freeze

        def run(folder = '')
          raise Failure.new('--poll does not go with --since: a list has no cookie', Failure::USAGE) if @poll && @since

          path = path_of(folder)
          left = @count
          about_folder(folder) do
            changes(path) do |change|
              show(change, path)
              left -= 1 if left && !change.key.empty?
              break if left&.zero?
            end
          end
        end

        private

        def define(parser)
          parser.on('--since COOKIE', 'from the cookie of an earlier change on') { |cookie| @since = cookie }
          parser.on('--poll SECONDS', 'list the folder, and compare it with the last list') do |text|
            @poll = converted_option('--poll', :duration, text)
          end
          parser.on('--values', 'print values, too, as simpkv get -o json') { @values = true }
          parser.on('--count N', 'end after so many changes') do |text|
            @count = converted_option('--count', 1..1_000_000_000, text)
          end
        end

        def changes(path)
          failed = ->(error) { warn("simpkv: #{backend.title}: #{backend.explain(error)}: it tries again") }
          watch = lambda do |&each|
            next reading.watch(path, since: @since, &each) unless @poll

            PolledChanges.new(reading, path, @poll, failed).each(&each)
          end
          AwaitedFolder.new(reading, path, @poll || 1, failed).each(watch) do |change|
            yield change unless %i[lost back].include?(change.kind) # What changes between the two comes later.
          end
        end

        def show(change, path)
          facts = facts(change)
          facts.merge!(value_of("#{path}/#{change.key}")) if @values && change.kind == :put
          case @flags[:output]
          when 'json' then $stdout.puts(line(facts))
          when 'yaml' then output.print(facts)
          else $stdout.puts(Output.text(words(facts).join(' ')))
          end
          $stdout.flush
        end

        def facts(change)
          facts = { 'time' => Time.now.utc.iso8601(3), 'change' => change.kind.to_s, 'key' => Output.name(change.key),
                    'cookie' => change.cookie }
          facts['deletions'] = change.complete ? 'known' : 'unknown' if change.kind == :ready
          facts
        end

        def words(facts)
          words = [facts['time'], facts['change'], facts['key']].reject(&:empty?)
          words << '(deletions since the cookie are unknown)' if facts['deletions'] == 'unknown'
          words << line(facts.slice('value', 'error')) if facts.key?('value') || facts.key?('error')
          words
        end

        def line(facts)
          UnsafeCharacters.escaped_in_json(JSON.generate(facts))
        end

        # @return [Hash] nothing for a key that was deleted meanwhile
        def value_of(key)
          Value.presentable(reading.get(key))
        rescue NotFoundError
          {}
        rescue Simpkv::Error => e
          { 'error' => backend.explain(e) }
        end
      end
    end
  end
end
