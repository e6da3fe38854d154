# frozen_string_literal: true

require 'puppet/indirector/code'
require 'puppet/transaction/report'
# Chooses this version of the gems, beside which an older one may be installed.
require 'simpkv/gems/estate'
require 'simpkv/termini/report_terminus'

# Keeps summaries of the last reports of nodes. It makes no reports, so it answers as a cache, too.
class Puppet::Transaction::Report::Simpkv < Puppet::Indirector::Code # rubocop:disable Style/ClassAndModuleChildren
  desc 'Keeps summaries of the last reports of nodes in the store of simpkv.'

  # @return [Puppet::Transaction::Report, nil] the last one of a node
  def find(request)
    ::Simpkv::Termini::ReportTerminus.find(request.key)
  end

  # @return [Array<Puppet::Transaction::Report>] those of a node, newest first
  def search(request)
    ::Simpkv::Termini::ReportTerminus.search(request.key)
  end

  # @return [void]
  def save(request)
    ::Simpkv::Termini::ReportTerminus.save(request.instance)
  end

  # @return [Boolean] whether there were any
  def destroy(request)
    ::Simpkv::Termini::ReportTerminus.delete(request.key)
  end
end
