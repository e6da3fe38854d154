# frozen_string_literal: true

require 'puppet/util/selinux'
require 'puppet/util/suidmanager'
require 'securerandom'

# A file authorized_keys, which is read and replaced so that no user can misuse the rights of root. Needs no gem.
#
# The user's own rights are tried first. With these, links are followed: the user could write there anyway. Where the
# kernel refuses, root goes from folder to folder by descriptors, and follows no link that others can change. A new file
# is renamed over the old one, so that sshd always reads a whole one.
#
# The value of this file is the class.
Class.new do
  include Puppet::Util::SELinux

  # @return [String]
  attr_reader :path

  # @param path [String] absolute
  # @param user [String] an existing one
  # @param central [Boolean] whether only root may write the file and its folders: it belongs to root, with mode 0644
  def initialize(path, user, central)
    @path = path
    @user = user
    @central = central
  end

  # @return [String] bytes; '' for a missing file
  # @raise [Puppet::Error]
  def read
    access('read') { |folder, name| open_file(folder, name).first }
  end

  # @return [String, nil] owner, group and mode; nil for a missing file
  # @raise [Puppet::Error]
  def permissions
    _, status = access('read') { |folder, name| open_file(folder, name) }
    format('%<uid>d:%<gid>d %<mode>04o', uid: status.uid, gid: status.gid, mode: status.mode & 0o7777) if status
  end

  # @param before [String] the bytes that {read} returned
  # @param after [String] the new ones
  # @raise [Puppet::Error] the file cannot be replaced, or has changed since {read}
  def replace(before, after)
    access('written') do |folder, name|
      found, status = open_file(folder, name)
      changed unless found == before
      refuse_owner(status)
      make(folder, name, after, status)
    end
  end

  private

  def access(verb, &block)
    refused = nil
    begin
      return as_user(verb, &block) unless @central || user_id.zero?
    rescue Errno::EACCES, Errno::EPERM, Errno::ENOSPC, Errno::EDQUOT => e # Root has a reserve, and no quota.
      refused = e
    end
    refused && !Process.euid.zero? ? raise(refused) : as_root(&block)
  rescue Errno::EINVAL, Errno::EEXIST # Somebody made or removed a link or folder meanwhile.
    changed
  rescue SystemCallError => e
    fail_with(verb, e, refused)
  end

  def user_id
    Puppet::Util.uid(@user)
  end

  def reason(error)
    error.class.new.message
  end

  # @param refused [SystemCallError, nil] what the user's rights led to, if root has tried after that
  def fail_with(verb, error, refused)
    why = refused.nil? || refused.equal?(error) ? reason(error) : "#{@user}: #{reason(refused)}; root: #{reason(error)}"
    raise Puppet::Error, "#{@path} cannot be #{verb}. #{why}. #{remedy(error)}"
  end

  # @param problem [String] the beginning of a sentence
  def refuse(path, problem)
    raise Puppet::Error, "#{path} #{problem}. The keys in #{@path} stay as they are until this is done"
  end

  def changed
    raise Puppet::Error, "#{@path} was changed meanwhile: the next run looks at it again"
  end

  def remedy(error)
    case error
    when Errno::ENOENT then "Create the folder #{File.dirname(@path)}"
    when Errno::ELOOP, Errno::ENOTDIR then "Replace #{File.dirname(@path)} by a folder, and #{@path} by a file"
    when Errno::EACCES, Errno::EPERM
      "Let #{@central ? 'root' : "#{@user} or root"} write the folder; lsattr shows if file or folder are immutable"
    when Errno::ENOSPC, Errno::EDQUOT then "Make room on the disk of #{File.dirname(@path)}"
    else 'Remove the cause'
    end
  end

  # @yieldparam folder [String] without links
  # @yieldparam name [String] of the file in it
  def as_user(verb)
    Puppet::Util::SUIDManager.asuser(@user) do
      path = real_path(verb == 'written')
      yield File.dirname(path), File.basename(path)
    end
  end

  def real_path(create)
    File.realpath(@path)
  rescue Errno::ENOENT
    folder = File.dirname(@path)
    Dir.mkdir(folder, 0o700) if create && !File.symlink?(folder) && !File.exist?(folder)
    File.exist?(folder) ? File.realdirpath(@path) : @path
  end

  # As above. The folder is a path below /proc that leads to an open folder, whatever others rename meanwhile.
  def as_root
    refuse('/proc/self/fd', 'is missing, and root needs it to write safely: mount /proc') unless
      File.directory?('/proc/self/fd')

    @folders = [File.open('/')]
    @names = ['']
    @links = 0
    name = walk(*File.expand_path(@path).split('/').drop(1))
    yield here, name
  ensure
    @folders&.each(&:close)
  end

  def here(name = nil)
    File.join("/proc/self/fd/#{@folders.last.fileno}", *name)
  end

  def link?(name)
    File.symlink?(here(name))
  end

  # Opens one folder after the other.
  #
  # @return [String] the name of the file in the last one
  def walk(name, *rest)
    while (linked = link?(name)) || rest.any?
      rest = follow(name) + rest if linked
      move(name) unless linked
      name, *rest = rest
      refuse(@path, 'is no path of a file: correct it') unless name
    end
    name
  end

  def move(name)
    name == '..' ? up : down(name)
  end

  def up
    return if @names.length == 1

    @folders.pop.close
    @names.pop
  end

  def down(name)
    @folders << File.new(here(name), File::RDONLY | File::NOFOLLOW | File::NONBLOCK)
    @names << name
    check_folder(@folders.last.stat)
  rescue Errno::ELOOP
    refuse_link(name)
  end

  # sshd has the same rule (StrictModes). The user may have moved a folder of root into a folder of the user.
  def check_folder(status)
    path = @names.join('/')
    refuse(path, 'is no folder: replace it by one') unless status.directory?
    return if own?(status)

    refuse(path, "belongs to user #{status.uid}: give it to #{owners}") unless
      @folders.all? { |folder| folder.stat.uid.zero? }
    refuse(path, 'is a folder of root that others can write: change its mode') if open_to_others?(status)
  end

  def own?(status)
    !@central && !user_id.zero? && status.uid == user_id
  end

  def owners
    @central || user_id.zero? ? 'root' : @user
  end

  # In a sticky folder, others can neither rename nor delete what root owns.
  def open_to_others?(status)
    !status.sticky? && writable_by_others?(status)
  end

  def writable_by_others?(status)
    (status.mode & 0o002).nonzero? || (!status.gid.zero? && (status.mode & 0o020).nonzero?)
  end

  # @return [Array<String>] the names that a link of root stands for
  def follow(name)
    above = @folders.last.stat
    trusted = [above, File.lstat(here(name))].all? { |status| status.uid.zero? } && !writable_by_others?(above)
    refuse_link(name) unless trusted && (@links += 1) <= 40

    target = File.readlink(here(name))
    up while target.start_with?('/') && @names.length > 1
    target.split('/') - ['', '.']
  end

  def refuse_link(name)
    refuse([*@names, name].join('/'), 'is a link, and root follows no link that others can change: replace it by a ' \
                                      "folder or file, or let #{@user} write there")
  end

  # @return [Array(String, File::Stat), Array(String, nil)] the bytes and the status of the file; '' and nil if it is
  #   missing
  def open_file(folder, name)
    File.open(File.join(folder, name), File::RDONLY | File::NOFOLLOW | File::NONBLOCK | File::BINARY) do |file|
      refuse(@path, 'is no regular file: remove it') unless file.stat.file?
      bytes = file.read(longest + 1).to_s
      refuse(@path, "has more than #{longest} bytes: shorten it") if bytes.bytesize > longest
      [bytes, file.stat]
    end
  rescue Errno::ENOENT
    ['', nil]
  rescue Errno::ENXIO
    refuse(@path, 'is no regular file: remove it')
  end

  # No agent shall run out of memory because of one user.
  def longest
    16 * 1024 * 1024
  end

  # The file of another user keeps its owner, which only root can do.
  def refuse_owner(status)
    raise Errno::EPERM if status && status.uid != Process.euid && !Process.euid.zero?
  end

  # Puts a new file in place of the old one.
  #
  # @param old [File::Stat, nil]
  def make(folder, name, bytes, old)
    temporary = File.join(folder, ".#{name}.#{SecureRandom.hex(8)}")
    File.open(temporary, File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW | File::BINARY, 0o600) do |file|
      file.write(bytes)
      give(file, old)
      file.fsync
      File.rename(temporary, File.join(folder, name))
      finish(folder, name, file.stat)
    end
  ensure
    File.unlink(temporary) if File.symlink?(temporary) || File.exist?(temporary)
  end

  def give(file, old)
    uid, gid, mode = if @central then [0, 0, 0o644]
                     elsif old then [old.uid, old.gid, old.mode & 0o777]
                     else [user_id, Etc.getpwuid(user_id).gid, 0o600]
                     end
    begin
      file.chown(uid, gid)
    rescue Errno::EPERM
      raise if Process.euid.zero? # A user may be no member of the group of the file.
    end
    file.chmod(mode)
  end

  def finish(folder, name, status)
    now = File.lstat(File.join(folder, name))
    changed unless [now.dev, now.ino] == [status.dev, status.ino]
    set_selinux_default_context(@path) if @central || !Process.euid.zero?
  end
end
