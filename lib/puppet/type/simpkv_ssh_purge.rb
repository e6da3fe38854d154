# frozen_string_literal: true

require_relative '../../puppet_x/simpkv/parts'

# It needs no gem on the agent.
Puppet::Type.newtype(:simpkv_ssh_purge) do
  @doc = <<~TEXT
    Manages a file authorized_keys as a whole, for `simpkv::authorized_keys`, which declares it.

    Each `ssh_authorized_key` of the catalog in this file gets the provider `simpkv`, which writes through this resource,
    so that there is one way to write the file. The same applies to keys that `purge_ssh_keys` of the user removes.

    With `purge`, this resource removes all keys of the file that no `ssh_authorized_key` manages, and turns lines that
    are no keys into comments. In any case, it removes the `keys`, unless an `ssh_authorized_key` manages them, and of
    several lines with the comment of one managed key all but one.

    @api private
  TEXT

  newparam(:name, namevar: true) do
    desc 'Any name.'
  end

  newparam(:user) do
    desc 'The user whose keys they are. The file is read and written with its permissions, or safely as root where these
      are not enough.'
  end

  newparam(:target) do
    desc 'The file. Default: `.ssh/authorized_keys` in the home folder of the user.'
  end

  newparam(:purge) do
    desc 'False: remove no other keys than `keys`. The default is true.'

    newvalues(:true, :false) # rubocop:disable Lint/BooleanSymbol
    defaultto :true # rubocop:disable Lint/BooleanSymbol
  end

  newparam(:central) do
    desc 'True: the file is in a folder that only root can write, and belongs to root, with mode 0644.'

    newvalues(:true, :false) # rubocop:disable Lint/BooleanSymbol
    defaultto :false # rubocop:disable Lint/BooleanSymbol
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
      @lines.empty? ? :absent : "in lines #{resource.titles(@lines.keys)}"
    end

    def insync?(current)
      current == :absent
    end

    def set(_value)
      resource.write(@lines)
    end

    def change_to_s(_current, _desired)
      removed, disabled = @lines.partition { |_, text| text.nil? }.map { |lines| lines.map(&:first) }
      changes = []
      changes << "removed keys in lines #{resource.titles(removed)}" if removed.any?
      changes << "turned lines #{disabled.join(', ')}, which are no keys, into comments" if disabled.any?
      changes.join('; ')
    end
  end

  newproperty(:permissions) do
    desc 'Owner, group and mode of the file, if it is `central`.'

    defaultto { '0:0 0644' if @resource[:central] == :true } # rubocop:disable Lint/BooleanSymbol

    def retrieve
      resource.file&.permissions || :absent
    end

    def insync?(current)
      current == :absent || super
    end

    def set(_value)
      resource.rewrite
    end
  end

  autorequire(:user) { self[:user] }

  validate { raise Puppet::Error, "give 'user'" unless self[:user] }

  { line: 'authorized_key_line', keys: 'authorized_keys_file' }.each do |name, file|
    part = PuppetX::Simpkv.part(__FILE__, file)
    define_method("#{name}_class") { part }
  end

  # Puppet calls it when all resources of the run are known, those included that `purge_ssh_keys` has generated, and
  # before it asks any provider.
  def pre_run_check
    return unless Puppet::Type.type(:ssh_authorized_key)

    own_keys.each do |key|
      key.provider = :simpkv
      key.provider.file = self
    end
    user = catalog.resource(:user, self[:user])
    self[:purge] = :true if user && Array(user[:purge_ssh_keys]).include?(keys_file) # rubocop:disable Lint/BooleanSymbol
  end

  # @return [String, nil] nil for a user that does not exist
  def keys_file
    self[:target] || File.expand_path("~#{self[:user]}/.ssh/authorized_keys") if Puppet::Util.uid(self[:user])
  rescue ArgumentError
    nil
  end

  # @return [Object, nil] see authorized_keys_file.rb; nil for a user that does not exist
  def file
    keys_class.new(keys_file, self[:user], set?(:central)) if keys_file
  end

  # @return [Hash{Integer => String, nil}] the new text of lines, by number from 1; nil for a line to remove
  def overlooked
    @lines = read_lines
    missing = managed
    comments = missing.keys
    texts = @lines.map { |line| replacement(line, missing, comments) }
    @lines.zip(texts).each.with_index(1).reject { |(line, text), _| line.text == text }
          .to_h { |(_, text), number| [number, text] }
  end

  # @param changed [Hash{Integer => String, nil}] the result of {overlooked}
  # @raise [Puppet::Error] another process has changed the file since
  def write(changed)
    store(@lines, @lines.map.with_index(1) { |line, number| changed.fetch(number, line.text) })
  end

  # Gives the file its owner and mode.
  def rewrite
    lines = read_lines
    store(lines, lines.map(&:text))
  end

  # @param numbers [Array<Integer>] of lines
  # @return [String] these, and the titles that sshkeys_core gives their keys: the comment, or `<path>:unnamed-<N>`,
  #   where N counts the keys without a comment from 1
  def titles(numbers)
    unnamed = @lines.select { |line| line.key? && line.comment.to_s.empty? }
    titles = numbers.map { |number| @lines[number - 1] }.map do |line|
      place = unnamed.index { |other| other.equal?(line) }
      place ? "#{keys_file}:unnamed-#{place + 1}" : line.comment.to_s.inspect
    end
    "#{numbers.join(', ')} (#{titles.join(', ')})"
  end

  # @param comment [String]
  # @return [Array] the lines with a key that have this comment
  def lines_of(comment)
    read_lines.select { |line| line.comment == comment.strip }
  end

  # Puts a line in place of those with this comment, or at the end.
  #
  # @param comment [String]
  # @param text [String, nil] nil to remove them
  def put_line(comment, text)
    lines = read_lines
    places = lines.each_index.select { |place| lines[place].comment == comment.strip }
    texts = lines.map(&:text)
    places.each { |place| texts[place] = nil }
    texts[places.first || texts.length] = "#{text}\n".b if text
    store(lines, texts)
  end

  private

  def read_lines
    (file ? file.read : '').lines("\n").map { |line| line_class.new(line) }
  end

  def store(before, texts)
    after = texts.compact.map { |text| text.end_with?("\n") ? text : "#{text}\n" }
    file.replace(before.map(&:text).join, after.join)
  end

  # @return [Array<Puppet::Type>] all `ssh_authorized_key` of the file
  def own_keys
    path = keys_file
    catalog.resources.select do |key|
      key.type == :ssh_authorized_key && key.should(:target) == path && (path || key.should(:user) == self[:user])
    end
  end

  # @return [Hash{String => String}] the data of the managed keys, by comment
  def managed
    own_keys.reject { |key| key.should(:ensure) == :absent }
            .to_h { |key| [key[:name].strip, line_class.decoded(key.should(:key).to_s)] }
  end

  # @param missing [Hash{String => String}] the data of the managed keys that no line above has
  # @param comments [Array<String>] of all managed keys
  # @return [String, nil] the line, or a comment in its place; nil if it is to be removed
  def replacement(line, missing, comments)
    return line.text if line.blank? || take(line, missing)
    return if comments.include?(line.comment) || (line.data & removed_data).any?

    set?(:purge) ? purged(line) : line.text
  end

  # Deletes the key of the line from the missing ones.
  #
  # @return [Boolean] whether it is one of these
  def take(line, missing)
    return false unless line.key && missing[line.comment] == line_class.decoded(line.key)

    !missing.delete(line.comment).nil?
  end

  # @return [String, nil] as {replacement}
  def purged(line)
    "# #{line.text.dup.force_encoding(Encoding::UTF_8).scrub('?')}" unless line.key?
  end

  def set?(name)
    self[name] == :true # rubocop:disable Lint/BooleanSymbol
  end

  def removed_data
    @removed_data ||= self[:keys].map { |key| line_class.decoded(key) }.compact
  end
end
