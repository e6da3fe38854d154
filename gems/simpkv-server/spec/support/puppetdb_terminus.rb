# frozen_string_literal: true

require 'fileutils'
require 'yaml'
require_relative '../../../../spec/support/puppet_command'

# Debian's Puppet with the terminus of its package puppet-terminus-puppetdb, which sends all that it knows to one URL.
class PuppetDBTerminus
  # As PuppetDB's documentation asks for, for `puppet apply`.
  ROUTES = { 'apply' => { 'catalog' => { 'terminus' => 'compiler', 'cache' => 'puppetdb' },
                          'facts' => { 'terminus' => 'facter', 'cache' => 'puppetdb_apply' } } }.freeze
  private_constant :ROUTES

  # @param folder [String] for Puppet's files
  # @param certificates [Certificates]
  # @param url [String] for puppetdb.conf
  # @param subject [String] the name in the certificate of this machine
  def initialize(folder, certificates, url, subject)
    @folder = folder
    cert, key = certificates.issue(subject: subject)
    @settings = { 'localcacert' => certificates.cacert, 'hostcert' => cert, 'hostprivkey' => key,
                  'certificate_revocation' => 'false', 'certname' => subject }
    [*PuppetCommand::FOLDERS, 'vardir/state'].each { |name| FileUtils.mkdir_p(File.join(folder, name)) }
    File.write(File.join(confdir, 'puppetdb.conf'), "[main]\nserver_urls = #{url}\n")
  end

  # Runs an application of Puppet.
  #
  # @param arguments [Array<String>]
  # @param settings [Hash{String => String}]
  # @return [Array(String, Integer)] what it printed, and its exit code
  def run(*arguments, **settings)
    all = @settings.merge(settings.transform_keys(&:to_s)).map { |name, value| "--#{name}=#{value}" }
    command = [*arguments, *PuppetCommand.folders(@folder), '--color=false', *all]
    output, status = PuppetCommand::Debian.run(*command)
    [output, status.exitstatus]
  end

  # Runs `puppet apply` of a node, and sends its facts, its catalog and its report.
  #
  # @param certname [String]
  # @param manifest [String]
  # @return [Array(String, Integer)] as {#run}
  def apply(certname, manifest)
    File.write(File.join(confdir, 'routes.yaml'), ROUTES.to_yaml)
    run('apply', '-e', manifest, '--storeconfigs', '--report', certname: certname, storeconfigs_backend: 'puppetdb',
                                                               reports: 'puppetdb')
  end

  private

  def confdir
    File.join(@folder, 'confdir')
  end
end
