# frozen_string_literal: true

require 'yaml'

# @summary Writes options as the text of simpkv.yaml
#
# The text shows what Sensitive values hold, so it is a Sensitive itself.
#
# @api private
Puppet::Functions.create_function(:'simpkv::support::site_file') do
  # @param options
  #   The options, with their sections. Those that are undef are left out.
  # @return [Sensitive[String]] YAML
  # @raise ArgumentError if a value is no plain data, or the backends are none
  # @example The options of a backend
  #   simpkv::support::site_file({ 'backends' => { 'default' => { 'type' => 'file', 'id' => 'site' } } })
  dispatch :text do
    param 'Hash', :options
    return_type 'Sensitive[String]'
  end

  def text(options)
    check_backends(options['backends'])
    head = "# Puppet's class simpkv manages this file.\n"
    Puppet::Pops::Types::PSensitiveType::Sensitive.new("#{head}#{YAML.dump(plain(options, 'simpkv.yaml'))}")
  end

  # The library checks the rest when it reads the file: the machine that compiles the catalog may not have it.
  def check_backends(backends)
    return if backends.nil? || (backends.is_a?(Hash) && backends.values.all?(Hash))

    raise ArgumentError, "simpkv.yaml: backends: expected a Hash of backends by name, each a Hash with 'type' and 'id'"
  end

  # The place names the value in messages.
  def plain(value, place)
    case value
    when Puppet::Pops::Types::PSensitiveType::Sensitive then plain(value.unwrap, place)
    when Hash then value.compact.to_h { |name, each| [name.to_s, plain(each, "#{place}: #{name}")] }
    when Array then value.map { |each| plain(each, place) }
    when String, Integer, Float, true, false, nil then value
    else raise ArgumentError, "#{place}: a #{value.class.name} cannot stand in YAML: write it as text"
    end
  end
end
