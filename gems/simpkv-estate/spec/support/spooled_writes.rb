# frozen_string_literal: true

require_relative '../../../../spec/support/key_file'
require_relative '../../../../spec/support/ports'

# What runs leave in a spool.
module SpooledWrites
  # @param folder [String] for the file with a password
  # @param options [Hash] of the estate
  # @param more [Hash] options of the backend
  # @return [Simpkv::Estate] the one of a compiler that reaches no server
  def self.compiler(folder, options, more = {})
    backend = { 'type' => 'ldap', 'id' => 'default', 'retries' => 0,
                'ldap_uri' => "ldap://127.0.0.1:#{Ports.free(1).first}",
                'admin_pw_file' => KeyFile.replace(File.join(folder, 'password'), 'secret') }
    Simpkv::Estate.new({ 'backends' => { 'default' => backend.merge(more) }, 'estate' => options })
  end

  def facts(certname, values = { 'a' => 1 }, **more)
    Simpkv::Estate::RunWrite::Facts.new(certname, { 'values' => values }, **more)
  end

  def exports(certname, title, **more)
    data = { 'resources' => { 'user' => [{ 'title' => title }] }, 'environment' => 'production' }
    Simpkv::Estate::RunWrite::Exports.new(certname, data, **more)
  end

  def catalog(certname, parameters)
    file = { 'type' => 'File', 'title' => '/a', 'sensitive_parameters' => ['content'], 'parameters' => parameters }
    resources = [{ 'type' => 'Class', 'title' => 'main' }, file]
    Simpkv::Estate::RunWrite::Catalog.new(certname, { 'name' => certname, 'resources' => resources })
  end

  def node(certname, record)
    Simpkv::Estate::RunWrite::Node.new(certname, record)
  end

  def report(certname, **more)
    summary = { 'status' => 'changed', 'environment' => 'production' }
    Simpkv::Estate::RunWrite::Report.new(certname, { 'summary' => summary }, **more)
  end
end
