# frozen_string_literal: true

require_relative '../../../../spec/support/puppet_command'

# Termini of the indirections, chosen as Puppet's settings or routes.yaml choose them, on an estate in files.
module EstateTermini
  # @param terminus [Symbol, String] a String as routes.yaml has it
  # @param cache [Symbol, String, nil]
  def route(indirection, terminus:, cache: nil)
    chosen = Puppet::Indirector::Indirection.instance(indirection)
    chosen.set_global_setting(:terminus_class, terminus)
    chosen.set_global_setting(:cache_class, cache)
    chosen.termini.clear
  end

  # @return [Hash{String => String}] the stored documents, by their path below the folder of the estate
  def files
    root = File.join(backend['root_path'], 'globals/estate')
    Dir.glob('**/*', base: root).select { |path| File.file?(File.join(root, path)) }.sort
       .to_h { |path| [path, File.read(File.join(root, path))] }
  end

  # Runs an application of Puppet in a process of its own, on the same store.
  #
  # @return [String] its output
  def puppet(*arguments)
    output, status = PuppetCommand.run(*arguments, *PuppetCommand.folders(scratch))
    raise "puppet #{arguments.first}: #{output}" unless status.success?

    output
  end

  # Makes a document unreadable.
  def spoil(name)
    File.write(File.join(backend['root_path'], 'globals/estate', name), 's3cret')
  end

  # @return [String] all that Puppet has logged
  def texts
    messages.map { |message| [message.message, message.backtrace].join("\n") }.join("\n")
  end
end
