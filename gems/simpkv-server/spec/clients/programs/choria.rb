# frozen_string_literal: true

require 'json'
require 'mcollective'
require 'mcollective/util/choria'
require 'uri'

address = URI(ENV.fetch('HTTPS'))
options = { 'libdir' => File.join(Gem::Specification.find_by_name('choria-mcorpc-support').full_gem_path, 'lib'),
            'logfile' => File::NULL, 'securityprovider' => 'choria', 'connector' => 'nats',
            'main_collective' => 'mcollective', 'collectives' => 'mcollective',
            'plugin.choria.puppetdb_host' => address.host, 'plugin.choria.puppetdb_port' => address.port,
            'plugin.choria.use_srv' => false, 'plugin.security.provider' => 'file',
            'plugin.security.file.certificate' => ENV.fetch('CERT'), 'plugin.security.file.key' => ENV.fetch('KEY'),
            'plugin.security.file.ca' => ENV.fetch('CA') }
file = File.join(Dir.home, 'choria.cfg')
File.write(file, options.map { |name, value| "#{name} = #{value}\n" }.join)
MCollective::Config.instance.loadconfig(file)
choria = MCollective::Util::Choria.new(false)
refused = begin
  choria.pql_query('nodes[certname] {')
rescue StandardError => e
  e.message
end
puts JSON.generate('nodes' => choria.pql_query('nodes[certname, deactivated] { certname ~ "^web" }', true),
                   'refused' => refused)
