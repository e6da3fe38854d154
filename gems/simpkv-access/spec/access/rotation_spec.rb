# frozen_string_literal: true

require_relative '../../../../spec/puppet_helper'
require_relative 'access_helper'

# Catalogs that several threads compile while the password of their identity is replaced. Each operation of a catalog
# opens a connection of its own.
module AccessRotation
  # The account is locked after so many wrong passwords in a row, as by default on 389-DS.
  LOCKING = {
    AccessServers::Slapd => <<~LDIF,
      dn: cn=module{0},cn=config
      changetype: modify
      add: olcModuleLoad
      olcModuleLoad: ppolicy

      dn: olcOverlay=ppolicy,olcDatabase={1}mdb,cn=config
      changetype: add
      objectClass: olcPPolicyConfig
      olcOverlay: ppolicy
      olcPPolicyDefault: cn=policy,dc=simp
    LDIF
    AccessServers::Ds => <<~LDIF
      dn: cn=config
      changetype: modify
      replace: passwordLockout
      passwordLockout: on
      -
      replace: passwordMaxFailure
      passwordMaxFailure: 3
    LDIF
  }.freeze

  POLICY = <<~LDIF
    dn: cn=policy,dc=simp
    objectClass: device
    objectClass: pwdPolicy
    cn: policy
    pwdAttribute: userPassword
    pwdLockout: TRUE
    pwdMaxFailure: 3
  LDIF

  MANIFEST = <<~PUPPET
    $key = "k${facts['number']}"
    simpkv::put($key, $facts['number'])
    notice(simpkv::get($key)['value'])
  PUPPET

  THREADS = 4
end

{ AccessServers::Slapd => {}, AccessServers::Ds => { ds389: true, long: true } }.each do |server, tags|
  RSpec.describe "The password of a compiler, on #{server.superclass}", **tags, needs: :cext, once: true do
    include Eventually

    include_context 'with access control', server

    before(:context) do
      if directory.is_a?(Slapd)
        directory.configure(AccessRotation::LOCKING.fetch(server))
        directory.add(AccessRotation::POLICY)
      else
        directory.modify(AccessRotation::LOCKING.fetch(server))
      end
    end

    let(:file_of_one) { password_file('one') }
    let(:hiera) do
      identity = { 'type' => 'ldap', 'admin_dn' => user_dn('one'), 'admin_pw_file' => file_of_one }
      { 'backends' => { 'default' => admin_options.merge(identity, 'idle_timeout_seconds' => 0) } }
    end
    let(:world) { PuppetWorld.new(environment: 'dev', hiera: hiera) }

    after { world.close }

    # Replaces the content of the reference in one step.
    def write_password(password)
      File.write("#{file_of_one}.new", "#{password}\n", perm: 0o600)
      File.rename("#{file_of_one}.new", file_of_one)
    end

    def await_catalogs(outcomes)
      wanted = outcomes[:compiled] + (3 * AccessRotation::THREADS)
      eventually(within: 60) { outcomes[:failures].any? || outcomes[:compiled] >= wanted }
    end

    # @return [Array<Thread>] that compile until `outcomes[:ends]` is set
    def compilers(outcomes)
      Array.new(AccessRotation::THREADS) do |number|
        Thread.new do
          until outcomes[:ends]
            world.compile_code(facts: { 'number' => number })
            outcomes[:compiled] += 1
          end
        rescue StandardError => e
          outcomes[:failures] << e.message
        end
      end
    end

    it 'is replaced in the file and then in the directory, and no catalog fails' do
      access!('apply', file)
      Puppet[:code] = AccessRotation::MANIFEST
      outcomes = { compiled: 0, failures: [], ends: false }
      threads = compilers(outcomes)
      await_catalogs(outcomes)
      before = directory.accepted
      %w[second third fourth].each do |password|
        write_password(password)
        await_catalogs(outcomes)
        expect(access('apply', process: true).to_a).to eq(["set the password of user one\n", '', 0])
        await_catalogs(outcomes)
      end
      expect(outcomes[:failures]).to eq([])
      expect(directory.accepted - before).to be > 100
      # Puppet warns if two threads load a type at the same time.
      expect(world.warnings.uniq.grep_v(/method already exists/))
        .to match([/a server refuses the password in 'admin_pw_file' #{file_of_one}: .*simpkv access apply/])
    ensure
      outcomes[:ends] = true
      threads.to_a.each(&:join)
      expect(outcomes[:failures]).to eq([])
    end
  end
end
