# frozen_string_literal: true

require 'json'
require 'open3'
require 'tmpdir'
require_relative 'gem_index'
require_relative 'page'
require_relative 'puppet_client'
require_relative 'puppet_command'
require_relative 'ports'
require_relative 'server_process'

# A puppetserver in a temporary folder, on a free port of the loopback address, with the gem and the module that
# `rake package` builds.
#
#   server = PuppetServer.new(max_active_instances: 2)
#   server.start
#   server.environment('production', 'notify { "hello": }')
#   server.agent('node1')
#   server.stop
class PuppetServer
  include ServerProcess

  HOME = '/usr/share/puppetserver'
  CONFIGURATION = '/etc/puppet/puppetserver'
  VENDORED_GEMS = '/usr/lib/puppetserver/vendored-jruby-gems'

  # The server and its agents do not use the bundle of the specs.
  CLEAN = ENV.keys.grep(/\A(BUNDLE|GEM|RUBY)/).to_h { |name| [name, nil] }.freeze

  # These options of Java halve the processor time of a start and a few catalogs. Code that runs for long takes twice as
  # long with them.
  QUICK_START = %w[-XX:TieredStopAtLevel=1 -XX:+UseSerialGC].freeze

  # The file with the options of Java of the package's service.
  DEFAULTS = '/etc/default/puppetserver'

  # Seconds. A start takes about 20 s, and several times that on a busy machine.
  START_SECONDS = 600

  # Makes a JRuby with storeconfigs read the site again, and prints which one it is. Sleeps, so that another one has to
  # compile the next catalog.
  READING = <<~ERB
    <% sleep 0.2
       require "jruby"
       Simpkv::Termini.instance_variable_set(:@estate, nil) if Puppet[:storeconfigs] %>
    <%= Puppet[:storeconfigs] ? JRuby.runtime.hashCode : "none" %>
  ERB
  private_constant :READING

  # @return [Array<String>] the options of Java of a site that has not changed them
  def self.site_java
    File.read(DEFAULTS)[/^JAVA_ARGS="(.*)"$/, 1].split
  end

  # A catalog could not be compiled; the message says why.
  Refused = PuppetClient::Refused

  # @param settings [Hash{Symbol => Object}] of the section jruby-puppet: :max_active_instances, :multithreaded,
  #   :compile_mode; and the section `profiler`. By default, the server keeps metrics of each function and each title of
  #   a defined type
  # @param java [Array<String>] options of Java
  def initialize(java: ['-Xms512m', '-Xmx1g', *QUICK_START], **settings)
    @java = java
    @folder = Dir.mktmpdir('puppetserver')
    @port = Ports.free(1).first
    @settings = settings
    %w[conf.d conf code/environments gems operator run log].each { |name| FileUtils.mkdir_p(path(name)) }
  end

  # @return [String] a path in the folder
  def path(*names)
    File.join(@folder, *names)
  end

  # Installs gems for the server's JRuby with the command of docs/puppetserver.md, which restarts the service, too.
  #
  # @param files [Array<String>] of the gems
  # @param variables [Hash{String => String}] further ones of the command
  # @param command [String] another one
  def install_gems(files, variables = {}, command = Page.new('puppetserver.md').blocks('How to upgrade', 'sh').first)
    GemIndex.serve(*files) { |uri| operate(command, uri, variables) }
    called = File.read(path('operator', 'called'))
    raise "systemctl was called with #{called}" unless called == "restart puppetserver\n"
  end

  # The same with the command of docs/install.md, which installs the files of the gems without a registry.
  def install_files(files, variables = {})
    FileUtils.mkdir_p(path('operator', 'pkg'))
    FileUtils.cp(files, path('operator', 'pkg'))
    operate(Page.new('install.md').command('puppetserver gem install --local'), 'http://127.0.0.1:9/', variables)
  end

  def start
    write_configuration
    File.write(path('run', 'restart'), '0')
    # Puppetserver increments the number in this file when it is ready.
    run_process(CLEAN, *command, output: path('log', 'output'), chdir: '/') do
      File.read(path('run', 'restart')).to_i.positive?
    end
  end

  # Starts a new process with other settings. A SIGHUP would take less time, but puppetserver sometimes ignores it.
  #
  # @param settings [Hash{Symbol => Object}] as for {#initialize}
  def restart(**settings)
    finish(:KILL)
    @settings = settings
    start
  end

  # Creates or changes an environment.
  #
  # @param name [String]
  # @param manifest [String]
  # @param options [Hash, nil] `simpkv::options` in Hiera
  # @param timeout [String] its environment_timeout
  # @return [String] its folder
  def environment(name, manifest, options: nil, timeout: '0')
    place = path('code', 'environments', name)
    FileUtils.mkdir_p(File.join(place, 'manifests'))
    File.write(File.join(place, 'manifests', 'site.pp'), manifest)
    File.write(File.join(place, 'environment.conf'), "environment_timeout = #{timeout}\n")
    hiera = { 'version' => 5, 'hierarchy' => [{ 'name' => 'all', 'path' => 'data.yaml', 'datadir' => '.' }] }
    File.write(File.join(place, 'hiera.yaml'), JSON.generate(hiera))
    File.write(File.join(place, 'data.yaml'), JSON.generate(options ? { 'simpkv::options' => options } : {}))
    place
  end

  # Turns storeconfigs on, with the terminus simpkv. That takes new JRubies, as its operator would make them. To change
  # the site later, the running ones read simpkv.yaml again: new ones need six seconds, and as many to compile once.
  #
  # @param site [Hash] the content of simpkv.yaml. The store of the former one must still exist
  # @param node_terminus [String] another one takes new JRubies as well
  def estate(site, node_terminus: 'plain')
    former = @nodes if @estate
    @estate = site
    @nodes = node_terminus
    write_puppet_configuration
    return unless @pid

    client.delete('/puppet-admin-api/v1/jruby-pool') if node_terminus != former
    environment('reading', "notify { inline_template('#{READING}'): }")
    read = []
    read |= in_each_jruby until read.compact.length == @settings.fetch(:max_active_instances)
  end

  # Runs an agent of this server.
  #
  # @param node [String] its name, and that of its folder
  # @param environment [String]
  # @param variables [Hash] of its process
  # @param arguments [Array<String>] further ones
  # @return [String] its output
  # @raise [Refused] if it fails
  def agent(node, environment: 'production', variables: {}, arguments: [])
    place = path('agents', node)
    FileUtils.mkdir_p(place)
    File.write(File.join(place, 'puppet.conf'), agent_configuration(node))
    output, status = PuppetCommand::Debian.run(
      'agent', '--onetime', '--no-daemonize', '--verbose', '--detailed-exitcodes', '--no-usecacheonfailure',
      '--color=false', '--confdir', place, '--environment', environment, *arguments, variables: variables
    )
    return output if [0, 2].include?(status.exitstatus)

    raise Refused, output.lines.grep_v(%r{Facter.*/proc/|^Notice: /File}).last(10).join
  end

  # Requests a catalog, as an agent does.
  #
  # @param environment [String]
  # @param node [String] the name of the node
  # @return [Array<String>] the titles of the catalog's notify resources
  # @raise [Refused] if it does not compile
  def compile(environment = 'production', node: 'localhost')
    notices = client.catalog(node, environment: environment)['resources'].select { |each| each['type'] == 'Notify' }
    notices.map { |each| each['title'] }
  end

  # @return [PuppetClient] with a connection of its own
  def client
    PuppetClient.new(@port, path('ssl'))
  end

  # Makes the server reload its environments.
  def drop_environments
    client.delete('/puppet-admin-api/v1/environment-cache')
  end

  # @return [Array<String>] the last lines of its log, without backtraces
  def tail
    %w[output puppetserver.log].flat_map do |name|
      lines = File.exist?(path('log', name)) ? File.readlines(path('log', name)).grep(/^\d|rror/) : []
      ["The end of puppetserver's #{name}:", *lines.last(12)]
    end
  end

  private

  # Runs a command of a page as an operator, whose `puppetserver gem` has this registry.
  def operate(command, registry, variables)
    home = path('operator')
    File.write(File.join(home, '.gemrc'),
               "gem: --no-document --install-dir #{path('gems')}\n:sources: ['#{registry}']\n")
    File.write(File.join(home, 'systemctl'), "#!/bin/sh\necho \"$@\" > called\n", perm: 0o755)
    own = { 'HOME' => home, 'PATH' => "#{home}:#{variables.fetch('PATH') { ENV.fetch('PATH') }}",
            'JAVA_ARGS_CLI' => QUICK_START.join(' ') }
    execute('sh', '-euc', "cd #{home} && #{command}", **variables, **own)
  end

  # @return [Array<String, nil>] which JRubies have read the site again
  def in_each_jruby
    threads = Array.new(@settings.fetch(:max_active_instances)) { Thread.new { compile('reading').first } }
    threads.map { |thread| thread.value unless thread.value.include?('none') }
  end

  def command
    ['java', *@java, '-Djruby.lib=/usr/share/jruby/lib',
     '-Djruby.logger.class=com.puppetlabs.jruby_utils.jruby.Slf4jLogger', '-jar', "#{HOME}/puppetserver.jar",
     '--config', path('conf.d'), '--bootstrap-config', "#{CONFIGURATION}/services.d",
     '--restart-file', path('run', 'restart')]
  end

  # @return [Array<String>] the stacks of all threads of the process, which its JVM prints on SIGQUIT
  def stacks
    output = path('log', 'output')
    known = File.size(output)
    Process.kill(:QUIT, @pid)
    late = monotonic + 30
    sleep 0.1 until File.read(output, nil, known).include?('JNI global refs') || monotonic > late
    [File.read(output, nil, known)]
  end

  # @param variables [Hash{String => String}] of its process
  # @return [String] the output of the command, which must succeed
  def execute(*command, **variables)
    output, status = Open3.capture2e(CLEAN.merge(variables), *command)
    raise "#{command.first(3).join(' ')}: #{output}" unless status.success?

    output
  end

  def write_configuration
    FileUtils.cp(Dir["#{CONFIGURATION}/conf.d/{ca,metrics,web-routes}.conf"], path('conf.d'))
    File.write(path('conf.d', 'auth.conf'), authorization)
    configure('global', global: { 'logging-config' => path('logback.xml') })
    configure('webserver', webserver: { 'client-auth' => 'want', 'ssl-host' => '127.0.0.1', 'ssl-port' => @port })
    configure('puppetserver', 'jruby-puppet' => jruby_puppet, 'http-client' => {}, profiler: @settings[:profiler].to_h)
    File.write(path('logback.xml'), logging)
    write_puppet_configuration
  end

  def write_puppet_configuration
    File.write(path('conf', 'simpkv.yaml'), JSON.generate(@estate)) if @estate
    File.write(path('conf', 'puppet.conf'), server_configuration)
  end

  # Debian's rules, but localhost may drop environments, and request the catalog of any node.
  def authorization
    rule = { name: 'environments are dropped', 'sort-order': 1, allow: 'localhost',
             'match-request': { path: '/puppet-admin-api', type: 'path' } }
    File.read("#{CONFIGURATION}/conf.d/auth.conf").gsub('allow: "$1"', 'allow: ["$1", "localhost"]')
        .sub('rules: [') { |start| "#{start}\n#{JSON.generate(rule)}," }
  end

  # HOCON includes JSON.
  def configure(name, sections)
    File.write(path('conf.d', "#{name}.conf"), JSON.generate(sections))
  end

  def jruby_puppet
    folders = { 'conf' => 'conf', 'code' => 'code', 'var' => 'var', 'run' => 'run', 'log' => 'log' }
    { 'ruby-load-path' => ['/usr/lib/puppetserver/ruby/vendor_ruby'], 'gem-home' => path('gems'),
      'gem-path' => [path('gems'), VENDORED_GEMS] }
      .merge(folders.to_h { |name, place| ["server-#{name}-dir", path(place)] })
      .merge(@settings.reject { |name, _| name == :profiler }.transform_keys { |name| name.to_s.tr('_', '-') })
  end

  def logging
    <<~XML
      <configuration>
        <appender name="file" class="ch.qos.logback.core.FileAppender">
          <file>#{path('log', 'puppetserver.log')}</file>
          <encoder><pattern>%d %-5p [%t] [%c{2}] %m%n</pattern></encoder>
        </appender>
        <root level="info"><appender-ref ref="file"/></root>
      </configuration>
    XML
  end

  def server_configuration
    <<~INI
      [main]
      certname = localhost
      ssldir = #{path('ssl')}
      keylength = 2048
      [server]
      cadir = #{path('ca')}
      autosign = true
      #{"storeconfigs = true\nstoreconfigs_backend = simpkv\nreports = store,simpkv\nnode_terminus = #{@nodes}" if @estate}
    INI
  end

  def agent_configuration(node)
    place = path('agents', node)
    <<~INI
      [main]
      server = localhost
      serverport = #{@port}
      certname = #{node}
      keylength = 2048
      vardir = #{place}/var
      ssldir = #{place}/ssl
      rundir = #{place}/run
      publicdir = #{place}/public
      http_keepalive_timeout = 0
    INI
  end
end
