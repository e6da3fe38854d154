# frozen_string_literal: true

require 'puppet/reports'
# Chooses this version of the gems, beside which an older one may be installed.
require 'simpkv/gems/estate'
require 'simpkv/termini/report_terminus'

Puppet::Reports.register_report(:simpkv) do
  desc <<-TEXT
    Keeps summaries of the last reports of nodes, and the status of the last run, in the store of simpkv. The option
    `reports` of `estate` is the number of reports that are kept of each node.
  TEXT

  # Saves this report.
  def process
    Simpkv::Termini::ReportTerminus.save(self)
  end

  # Deletes the reports of a node: `puppet node clean` calls this method.
  #
  # @param certname [String]
  def self.destroy(certname)
    Simpkv::Termini::ReportTerminus.delete(certname)
  end
end
