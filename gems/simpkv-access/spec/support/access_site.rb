# frozen_string_literal: true

require 'simpkv/access/declarations'
require 'simpkv/access/passwords'
require 'simpkv/access/reconciler'
require 'simpkv/estate'
require_relative 'access_directory'

# A site whose access control has many users, roles and bindings, in a directory. Each role writes an environment of its
# own, and all roles read one folder. All users have the password of the server's identities.
class AccessSite
  # The folder that all roles read.
  SHARED = 'globals/shared'

  # @return [Simpkv::Access::Declarations]
  attr_reader :declarations

  # @param access [AccessDirectory] started
  # @param users [Integer] their number, and so on
  def initialize(access, users:, roles:, bindings:)
    @access = access
    @declarations = Simpkv::Access::Declarations.new(
      'users' => named('u', users) { { 'password' => "file:#{access.server.password_file}" } },
      'roles' => named('r', roles) do |number|
        [{ 'prefixes' => ["environments/e#{number}"], 'rights' => %w[read list write] },
         { 'prefixes' => [SHARED], 'rights' => %w[read] }]
      end,
      'bindings' => named('b', bindings) do |number|
        # The second binding of a user is to another role than the first one.
        { 'users' => ["u#{number % users}"], 'roles' => ["r#{(number + (number / users)) % roles}"] }
      end
    ).valid!
  end

  # @return [Simpkv::Access::Plan]
  def plan
    reconciler.plan { |state| state.with(declarations) }
  end

  # @return [Simpkv::Access::Plan] the last one, without steps
  def apply
    reconciler.apply(->(state) { state.with(declarations) })
  end

  # @return [Simpkv::Access::Reconciler] a new one, as a process has it; for single objects as a catalog with all
  #   declarations has it
  def reconciler
    Simpkv::Access::Reconciler.new(*parts) { |state| state.with(declarations) }
  end

  private

  def named(letter, count)
    Array.new(count) { |number| ["#{letter}#{number}", yield(number)] }.to_h
  end

  # @return [Array] the state, the directory and the passwords
  def parts
    store = @access.root
    names = Simpkv::Access::Names.new(AccessDirectory::USERS_DN, AccessDirectory::ROLES_DN)
    directory = Simpkv::Access::Directory.new(store, @access.settings, names, @access.section)
    backends = { 'default' => { 'type' => 'ldap' }.merge(@access.settings) }
    estate = Simpkv::Estate.new({ 'backends' => backends }) { store }
    [Simpkv::Access::State.new(estate), directory, Simpkv::Access::Passwords.new]
  end
end
