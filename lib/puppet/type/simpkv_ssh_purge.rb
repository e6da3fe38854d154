# frozen_string_literal: true

require 'puppet/util/suidmanager'
require 'set'

# It needs no gem on the agent.
Puppet::Type.newtype(:simpkv_ssh_purge) do
  @doc = <<~TEXT
    Removes the keys of a file authorized_keys that other resources overlook. `simpkv::authorized_keys` declares it, if
    it purges or is absent.

    `purge_ssh_keys` and `ssh_authorized_key` know a key by its comment. So they leave a key whose comment belongs to a
    key of another file in the catalog, and of several keys with one comment all but the last. They do nothing for all
    users of the host if sshkeys_core cannot read a line of one file. With `purge`, this resource removes these keys, and
    turns lines that are no keys into comments.

    An absent `ssh_authorized_key` leaves the same key under another comment. This resource removes the lines with the
    `keys`, but those that an `ssh_authorized_key` manages.

    @api private
  TEXT

  newparam(:name, namevar: true) do
    desc 'Any name.'
  end

  newparam(:user) do
    desc 'The user whose keys they are. The file is read and written with its permissions.'
  end

  newparam(:target) do
    desc 'The file. Default: `.ssh/authorized_keys` in the home folder of the user.'
  end

  newparam(:purge) do
    desc 'False: remove no other keys than `keys`. The default is true.'

    newvalues(:true, :false) # rubocop:disable Lint/BooleanSymbol
    defaultto :true # rubocop:disable Lint/BooleanSymbol
  end

  newparam(:keys) do
    desc 'The base64 texts of keys to remove, whatever their comments. The default is none.'

    munge { |value| [value].flatten }
    defaultto { [] }
  end

  newproperty(:overlooked) do
    desc 'The only value is `absent`, the default.'

    newvalues(:absent)
    defaultto :absent

    def retrieve
      @lines = resource.overlooked
      @lines.empty? ? :absent : "in lines #{@lines.keys.join(', ')}"
    end

    def insync?(current)
      current == :absent
    end

    def set(_value)
      resource.write(@lines)
    end

    def change_to_s(_current, _desired)
      removed, disabled = @lines.partition { |_, text| text.nil? }.map { |lines| lines.map(&:first).join(', ') }
      [("removed keys in lines #{removed}" unless removed.empty?),
       ("turned lines #{disabled}, which are no keys, into comments" unless disabled.empty?)].compact.join('; ')
    end
  end

  autorequire(:user) { self[:user] }

  validate { raise Puppet::Error, "give 'user'" unless self[:user] }

  # @return [String, nil] nil for a user that does not exist
  def keys_file
    self[:target] || File.expand_path("~#{self[:user]}/.ssh/authorized_keys")
  rescue ArgumentError
    nil
  end

  # @return [Hash{Integer => String, nil}] the new text of lines, by number from 1; nil for a line to remove
  def overlooked
    return {} unless keys_file && Puppet::Util.uid(self[:user])

    below = Set.new
    @lines = lines
    numbered = @lines.each.with_index(1).reverse_each.map { |line, number| [number, line, replacement(line, below)] }
    numbered.reverse.reject { |_, line, text| line == text }.to_h { |number, _, text| [number, text] }
  end

  # @param changed [Hash{Integer => String, nil}] the result of {overlooked}
  # @raise [Puppet::Error] another process has changed the file since
  def write(changed)
    raise Puppet::Error, "#{keys_file} was changed meanwhile: the next run looks at it again" unless lines == @lines

    after = @lines.map.with_index(1) { |line, number| changed.fetch(number, line) }
    as_user { replace(File.realpath(keys_file), after) }
    forget(changed.keys.map { |number| parsed(@lines[number - 1]) }.compact)
  end

  private

  def as_user(&block)
    Puppet::Util::SUIDManager.asuser(self[:user], &block)
  end

  def lines
    as_user { File.file?(keys_file) ? File.binread(keys_file).lines : [] }
  end

  # Puppet's own methods fail if the user is no member of the group of the file.
  def replace(path, lines)
    copy = Puppet::FileSystem::Uniquefile.new(File.basename(path), File.dirname(path))
    copy.binmode
    copy.write(lines.join)
    keep_group(copy, File.stat(path))
    copy.fsync
    copy.close
    File.rename(copy.path, path)
  ensure
    copy&.close!
  end

  def keep_group(copy, status)
    copy.chown(nil, status.gid)
  rescue Errno::EPERM
    nil
  ensure
    copy.chmod(status.mode & 0o7777)
  end

  def parser
    Puppet::Type.type(:ssh_authorized_key).provider(:parsed)
  end

  # @return [Hash, nil] the record of sshkeys_core; nil if it cannot read the line
  def parsed(line)
    text = line.dup.force_encoding(Encoding::UTF_8)
    parser.parse_line(text.chomp) if text.valid_encoding?
  end

  # The data of each key that sshd knows begin with AAAA, because they begin with the length of the name of the type.
  #
  # @return [Boolean] whether sshd may find a key
  def key?(line)
    line.match?(/\A(?![ \t]*#).*[ \t]AAAA/n)
  end

  # @param below [Set<String>] the comments of the lines below; that of this one is added
  # @return [String, nil] the line, or a comment in its place; nil if it is to be removed
  def replacement(line, below)
    record = parsed(line)
    last = last?(record, below)
    return if removed?(line, record, last)

    self[:purge] == :true ? purged(line, record, last) : line # rubocop:disable Lint/BooleanSymbol
  end

  # @return [Boolean] whether no line below has the same comment
  def last?(record, below)
    comment = record ? record[:name].to_s : ''
    comment.empty? || !below.add?(comment).nil?
  end

  # @return [Boolean] whether the line has one of `keys`, and no ssh_authorized_key manages it
  def removed?(line, record, last)
    return false if (self[:keys] & key_texts(line, record)).empty?

    key = catalog_keys[record[:name]] if record && last
    key.nil? || key.should(:target) != keys_file
  end

  # @return [Array<String>] the base64 text of the key; of a line that sshkeys_core cannot read, all words
  def key_texts(line, record)
    return record.values_at(:key).compact if record

    line.match?(/\A[ \t]*#/n) ? [] : line.split(/[ \t\r\n]+/n)
  end

  # @return [String, nil] as {replacement}
  def purged(line, record, last)
    case record && record[:record_type]
    when nil then unreadable(line)
    when :parsed then line unless overlooked?(record[:name], last)
    when :key_v1 then line unless key?(line) # Three numbers at the end of a line are a key of SSH 1 for sshkeys_core.
    else line
    end
  end

  # @return [String, nil] a comment in place of the line; nil if the line has a key
  def unreadable(line)
    line.dup.force_encoding(Encoding::UTF_8).scrub('?').sub(/\A(?!\s*#)/, '# ') unless key?(line)
  end

  def overlooked?(comment, last)
    return false if comment.empty?
    return true unless last

    key = catalog_keys[comment]
    !key.nil? && (key.should(:target) != keys_file || purged?(key))
  end

  # @return [Hash{String => Puppet::Type}] all keys of the catalog, by comment
  def catalog_keys
    @catalog_keys ||= catalog.resources.select { |other| other.type == :ssh_authorized_key }
                             .to_h { |key| [key[:name], key] }
  end

  # @return [Boolean] whether `purge_ssh_keys` has removed a key with this comment already
  def purged?(key)
    [key.should(:ensure), key.provider.property_hash[:ensure]] == %i[absent absent] &&
      parser.target_records(keys_file).any?
  end

  # The provider stores the whole file as it has read it before, if it has.
  def forget(records)
    known = parser.target_records(keys_file)
    records.each do |removed|
      record = known.find do |other|
        other[:ensure] != :absent && other.values_at(:type, :key, :name) == removed.values_at(:type, :key, :name)
      end
      record[:ensure] = :absent if record
    end
  end
end
