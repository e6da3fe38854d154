# frozen_string_literal: true

# The resource simpkv_ssh_purge of a file assigns this provider to the keys of the file.
Puppet::Type.type(:ssh_authorized_key).provide(:simpkv) do
  desc "Writes keys into a file that `simpkv::authorized_keys` manages, with the user's rights, or safely as root. The
    keys of such a file get this provider by themselves."

  mk_resource_methods

  # @return [Puppet::Type] the simpkv_ssh_purge of the file
  attr_accessor :file

  # Empty, because only a catalog names the files.
  def self.instances
    []
  end

  def exists?
    line = file.lines_of(resource[:name]).first
    @property_hash = line ? properties(line) : {}
    !line.nil?
  end

  def create
    resource.class.validproperties.each { |name| @property_hash[name] = resource.should(name) }
  end

  def destroy
    @property_hash = { ensure: :absent }
  end

  # Puppet calls it after changes only.
  def flush
    raise Puppet::Error, "User '#{resource[:user]}' does not exist" unless file.keys_file

    file.put_line(resource[:name], @property_hash[:ensure] == :absent ? nil : line)
  end

  private

  def properties(line)
    options = line.options.empty? ? [:absent] : self.class.split(line.options)
    { ensure: :present, type: line.type.to_sym, key: line.key, options: options, user: resource.should(:user),
      target: resource.should(:target) }
  end

  # @return [Array<String>] options, as sshd divides them
  def self.split(options)
    options.scan(/(?>\\"|"(?>\\"|[^"])*(?:"|\z)|[^,"])+/)
  end

  def line
    options = Array(@property_hash[:options]) - [:absent]
    [options.join(','), *@property_hash.values_at(:type, :key), resource[:name]].reject { |part| part.to_s.empty? }
                                                                                .join(' ')
  end
end
