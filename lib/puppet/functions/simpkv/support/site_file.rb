# frozen_string_literal: true

require 'yaml'

# @summary Writes options as the text of simpkv.yaml
#
# Refuses what the readers of the file would refuse, if the gem simpkv is installed where the catalog is compiled.
# Without the gem, as on a fresh machine with `puppet apply`, it checks only that each backend is a Hash with `type` and
# `id`.
#
# The text shows what Sensitive values hold, so it is a Sensitive itself.
#
# @api private
Puppet::Functions.create_function(:'simpkv::support::site_file', Puppet::Functions::InternalFunction) do
  # @param options
  #   The options, with their sections. An undef option is written without a value. If the option protects
  #   something, as encryption_keys does, readers refuse the file; otherwise it counts as absent.
  # @return [Sensitive[String]] YAML
  # @raise ArgumentError if a value is no plain data, or an option is invalid; the message does not show the value
  # @example The options of a backend
  #   simpkv::support::site_file({ 'backends' => { 'default' => { 'type' => 'file', 'id' => 'site' } } })
  dispatch :text do
    scope_param
    param 'Hash', :options
    return_type 'Sensitive[String]'
  end

  def text(scope, options)
    content = plain(options, 'simpkv.yaml')
    check_backends(content['backends'])
    text = "# Puppet's class simpkv manages this file.\n#{YAML.dump(content)}"
    check(scope, text)
    Puppet::Pops::Types::PSensitiveType::Sensitive.new(text)
  end

  # Checks what needs no gem.
  def check_backends(backends)
    return if backends.is_a?(Hash) && backends.values.all? do |each|
      each.is_a?(Hash) && %w[type id].all? { |name| each[name].is_a?(String) && !each[name].empty? }
    end

    raise ArgumentError, "simpkv.yaml: backends: expected a Hash of backends by name, each a Hash with 'type' and 'id'"
  end

  def check(scope, text)
    return unless gem?

    types = internal_call_function(scope, 'simpkv::support::load', []).backends
    Simpkv::SiteCheck.check(text, 'simpkv.yaml', types)
  rescue LoadError, Simpkv::Gems::MissingError => e
    # This run may be about to install the missing gem.
    Puppet.warning("simpkv.yaml: the options are not checked: #{e.message}")
  end

  def gem?
    require 'simpkv/config/site_check'
    true
  rescue LoadError => e
    raise unless e.path == 'simpkv/config/site_check'

    Puppet.debug { "simpkv.yaml: the options are not checked without the gem: #{e.message}" }
    false
  end

  # The place names the value in messages.
  def plain(value, place)
    case value
    when Puppet::Pops::Types::PSensitiveType::Sensitive then plain(value.unwrap, place)
    when Hash then value.to_h { |name, each| [name.to_s, plain(each, "#{place}: #{name}")] }
    when Array then value.map { |each| plain(each, place) }
    when String, Integer, Float, true, false, nil then value
    else raise ArgumentError, "#{place}: a #{value.class.name} cannot stand in YAML: write it as text"
    end
  end
end
