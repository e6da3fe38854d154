# frozen_string_literal: true

# Makes versions of the Puppet module, whose `simpkv::get` names the version of each part that takes part in the call.
module ModuleVersions
  # By file of the module, a text and what replaces it. The base class comes from that of the functions.
  EDITS = {
    'puppet/functions/simpkv/get.rb' =>
      ['simpkv(scope, :get, key, options)', "\\0.transform_values { |value| value + ' f%s' }"],
    'puppet_x/simpkv/function.rb' =>
      ['adapter.calls.run(self, scope, operation, key, options, arguments)',
       "\\0.transform_values { |value| value + ' b%s' }"],
    'puppet_x/simpkv/simpkv.rb' => ['super(folder) }', <<~RUBY],
      \\0
      def calls
        super.tap do |calls|
          calls.define_singleton_method(:run) { |*all| super(*all).transform_values { |value| value + ' a%s' } }
        end
      end
    RUBY
    'puppet_x/simpkv/file_plugin.rb' => ['include Simpkv::Adapter::PluginMethods', <<~RUBY]
      \\0
      def simpkv_store
        super.tap { |store| store.define_singleton_method(:get) { |*, **| '{"value":"p%s"}' } }
      end
    RUBY
  }.freeze
  private_constant :EDITS

  # Makes a copy of the module another version, also if it is one already.
  #
  # @param place [String] the folder of the copy
  # @param version [String]
  def self.edit(place, version)
    EDITS.each do |name, (text, other)|
      file = File.join(place, 'lib', name)
      File.write("#{file}.original", File.read(file)) unless File.exist?("#{file}.original")
      original = File.read("#{file}.original")
      raise "#{name} has no '#{text}'" unless original.include?(text)

      File.write(file, original.sub(text) { format(other.sub('\\0', text), version) })
    end
  end

  # @return [String] the value of each key, if all parts are of that version
  def self.value(version)
    "p#{version} a#{version} b#{version} f#{version}"
  end
end
