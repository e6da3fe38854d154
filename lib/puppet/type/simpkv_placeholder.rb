# frozen_string_literal: true

Puppet::Type.newtype(:simpkv_placeholder) do
  @doc = <<~DOC
    @summary Stops an agent from applying a catalog with placeholders

    `simpkv::secret` adds it to a catalog in which a placeholder stands for a secret that was not made, because the node
    runs in noop mode and `noop_writes` is skip. An agent that does not run in noop mode, from a cached catalog for
    instance, then applies nothing of the catalog. Manifests do not declare it.
  DOC

  newparam(:name, namevar: true) do
    desc 'Any name.'
  end

  # Puppet calls it before it applies the first resource.
  def pre_run_check
    return if catalog.resources.all?(&:noop?)

    raise Puppet::Error, 'simpkv: placeholders in this catalog stand for secrets that were not made, because it was ' \
                         'compiled for a run in noop mode: run the agent again without --use_cached_catalog, and ' \
                         "leave out 'noop => false'"
  end
end
