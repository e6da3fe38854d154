# frozen_string_literal: true

# The table of docs/install.md that says which stage of the tests runs which Ruby, Puppet and binding.
module Platforms
  # A row. `stages` is empty for what nobody has tried.
  Row = Struct.new(:ruby, :puppet, :binding, :stages)

  PAGE = File.expand_path('../../docs/install.md', __dir__)
  HEADING = "\n## Which Ruby and Puppet\n"
  NOT_TRIED = 'not tried'
  EXCLUDED = /`metadata\.json` excludes ([^.;]+)/.freeze
  private_constant :PAGE, :HEADING, :NOT_TRIED, :EXCLUDED

  class << self
    # @return [Array<Row>]
    def rows
      section.scan(/^\| (\S.*?) *\|$/).flatten.drop(1).map do |line|
        ruby, puppet, binding, tried = line.split(/ *\| */)
        stages = tried.scan(/`(\w+)`/).flatten
        raise "the row '#{line}' has neither stages nor '#{NOT_TRIED}'" if stages.empty? != (tried == NOT_TRIED)

        Row.new(ruby, puppet, binding, stages)
      end
    end

    # @return [Array<String>] the Puppets that the page says the module excludes, such as 'OpenVox 9'
    def excluded
      section[EXCLUDED, 1].scan(/\w+\s+\d+/).map { |name| name.tr("\n", ' ') }
    end

    # @return [String] the Ruby that runs, as the table names it
    def ruby
      engine = RUBY_ENGINE == 'jruby' ? "JRuby #{JRUBY_VERSION[/\A\d+\.\d+/]}" : 'Ruby'
      "#{engine} #{RUBY_VERSION[/\A\d+\.\d+/]}".sub(/\A(JRuby .*) (\S+)\z/, '\1 (Ruby \2)')
    end

    # @return [String] the Puppet that runs, as the table names it
    def puppet
      openvox = Puppet.respond_to?(:implementation) && Puppet.implementation == 'openvox'
      "#{openvox ? 'OpenVox' : 'Puppet'} #{Puppet.version[/\A\d+/]}"
    end

    # @return [String] the binding that runs, as the table names it
    def binding_name
      Simpkv::Native.binding_name == 'ffi' ? 'FFI' : 'extension'
    end

    # @return [Array<Row>] the rows for what runs here: in a stage that the table names, those that name it
    def here
      stage = ENV.fetch('STAGE', '')
      fitting = rows.select { |row| row.ruby == ruby && row.binding == binding_name && row.stages.any? }
      rows.any? { |row| row.stages.include?(stage) } ? fitting.select { |row| row.stages.include?(stage) } : fitting
    end

    private

    # The part of the page that has the table.
    def section
      File.read(PAGE, encoding: 'UTF-8').split(HEADING).fetch(1)[/\A.*?(?=\n## |\z)/m]
    end
  end
end
