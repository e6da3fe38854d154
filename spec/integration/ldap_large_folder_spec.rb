# frozen_string_literal: true

require 'json'
require 'open3'
require_relative '../support/another_ruby'
require_relative '../support/ldap_store'

Directories.each_server do |server, tags|
  RSpec.describe "A folder of 10,000 keys, #{server}", :heavy, **tags, long: tags[:ds389] do
    count = 10_000

    define_method(:document) { |number| %({"value":"#{number} #{'x' * 2_100}","metadata":{}}) }

    define_method(:import) do |directory|
      store = Simpkv::Store.open('ldap', directory.options)
      store.put('globals/f/k0', document(0))
      store.close
      folder = Simpkv::Native.dn_from_path(:plain, :folder, DirectoryServer::BASE_DN, 'spec', 'globals/f')
      directory.import((1...count).map { |n| <<~LDIF }.join("\n"))
        dn: simpkvKey=k#{n},#{folder}
        objectClass: simpkvEntry
        simpkvKey: k#{n}
        simpkvJsonValue: #{document(n)}
      LDIF
    end

    def list(directory, more = {})
      store = Simpkv::Store.open('ldap', directory.options(more))
      store.list('globals/f')
    ensure
      store&.close
    end

    # Pages do not lift the limits of a server. The result used to be a part of the list, without an error.
    def expect_refusals(directory)
      [100, 500, 100_000].each do |page_size|
        expect { list(directory, 'page_size' => page_size) }.to raise_error(Simpkv::TooLargeError) { |error|
          expect(error.message).to include("#{directory.uri} stopped at its ")
            .and match(/ its (size|look-through|administrative) limit/)
          expect(error.message).to match(%r{slapd with 'limits .*389-DS with the attributes ns.*schema/389ds/limits})
        }
      end
    end

    define_method(:expect_all) do |directory|
      found = list(directory)
      expect(found[:keys].length).to eq(count)
      expect((0...count).all? { |n| found[:keys]["k#{n}"] == document(n) }).to be(true)
      expect(found.values_at(:folders, :errors)).to eq([[], {}])
    end

    # Lists the folder in a new process.
    #
    # @return [Array(Integer, Integer)] the bytes that it lists, and those by which its memory grows
    def memory(directory, binding_name, *drop)
      program = File.expand_path('../support/list_memory.rb', __dir__)
      command = AnotherRuby.command(program, JSON.generate(directory.options), 'globals/f', *drop)
      output, status = Open3.capture2({ 'SIMPKV_NATIVE' => binding_name }, *command)
      expect(status).to be_success
      JSON.parse(output).values_at('listed', 'growth')
    end

    # Each document is a String. The core holds one page at a time.
    def expect_modest_memory(directory)
      listed, growth = memory(directory, 'cext')
      expect(listed).to be > 20_000_000
      expect(growth).to be < 3 * listed
      listed, growth = memory(directory, 'ffi', 'drop')
      expect(listed).to be > 20_000_000
      expect(growth).to be < listed / 10
    end

    it 'is listed completely by an ordinary identity with the shipped limits, and refused without them' do
      server.run do |directory|
        import(directory)
        expect_refusals(directory)
        directory.lift_limits
        expect_all(directory)
        expect_modest_memory(directory)
      end
    end
  end
end
