# frozen_string_literal: true

# Applies catalogs in this process, and tells what they did. An example has a PuppetWorld, `world`; for keys, `store`.
module KeysAsResources
  PRODUCTION = 'environments/production'

  # Applies a catalog. The methods below are about the last one.
  #
  # @param manifest [String]
  # @return [Puppet::Transaction::Report]
  def apply(manifest, **settings, &block)
    @report = world.apply(manifest, **settings, &block)
  end

  # The same, for a run without failures.
  def apply!(manifest, **settings, &block)
    report = apply(manifest, **settings, &block)
    raise "failed: #{failed.inspect}\n#{log.join("\n")}" if failed.any?

    report
  end

  # @return [Array<String>] the resources of the last run with an event of that status: success, noop, failure
  def with_events(status)
    statuses.select { |each| each.events.any? { |event| event.status == status } }.map(&:resource).sort
  end

  # @return [Array<String>] the keys that the last run removed
  def removed(status = 'success')
    gone = statuses.select do |each|
      each.events.any? { |event| [event.status, event.desired_value.to_s] == [status, 'absent'] }
    end
    gone.map(&:resource).sort
  end

  # @return [Array<String>] the resources that the last run changed
  def changed
    statuses.select(&:changed).map(&:resource).sort
  end

  # @return [Array<String>] the resources that failed in the last run
  def failed
    statuses.select { |each| each.failed || each.failed_to_restart }.map(&:resource).sort
  end

  def statuses
    @report.resource_statuses.values
  end

  # @return [Array<String>] the lines of the log
  def log
    world.log
  end

  # Writes the file with the options of the site.
  #
  # @param backends [Hash{String => Hash}]
  def write_options(backends)
    File.write(ENV.fetch('SIMPKV_CONFIG'), { 'backends' => backends }.to_yaml)
  end

  # @param options [Hash{String => String}] of a backend
  # @return [String] the same in a manifest
  def as_puppet(options)
    "{ #{options.map { |name, value| "'#{name}' => '#{value}'" }.join(', ')} }"
  end

  # Stores documents.
  #
  # @param documents [Hash{String => Object}] by the path in the environment: the value, or for a String the document
  def fill(documents, prefix = PRODUCTION, into = store)
    documents = documents.to_h do |path, value|
      ["#{prefix}/#{path}", value.is_a?(String) ? value : Simpkv::Codec.encode(value[:value], value[:metadata] || {})]
    end
    into.put_many(documents).each_value { |result| raise result if result.is_a?(Simpkv::Error) }
  end

  # @return [Hash{String => String}] the documents of an environment, sorted
  def documents(prefix: PRODUCTION, from: store)
    from.tree(prefix, required: false)[:keys].sort.to_h
  end

  # @return [Array<String>] the paths of the keys of an environment, sorted by bytes
  def keys(**options)
    documents(**options).keys.sort_by(&:b)
  end

  # @param keys [Array<String>] with or without the name of the type
  # @return [Array<String>]
  def key_resources(*keys)
    keys.map { |key| "Simpkv_key[#{key}]" }.sort
  end

  # Does something each time after a folder has listed its entries, and before the first of them is removed.
  def after_listing(&block)
    allow_any_instance_of(Puppet::Type.type(:simpkv_folder))
      .to receive(:eval_generate).and_wrap_original do |original|
      original.call.tap(&block)
    end
  end

  # Does something each time before a folder lists its entries.
  def before_listing
    allow_any_instance_of(Puppet::Type.type(:simpkv_folder))
      .to receive(:eval_generate).and_wrap_original do |original|
      yield
      original.call
    end
  end
end
