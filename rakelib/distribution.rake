# frozen_string_literal: true

namespace :package do
  desc 'Build everything into pkg/: gems, module, Debian source package and packages, and RPMs (bin/setup packages)'
  task all: %i[package package:deb package:rpm] do
    require_relative 'distribution_bill'
    bills = write_bills(DistributionBill.packages('pkg'), DistributionBill)
    listed = File.readlines('pkg/SHA256SUMS').map { |line| File.join('pkg', line.split.last) }
    write_checksums(listed | bills | Dir['pkg/{simpkv_*,*.deb,*.rpm}'])
  end

  desc 'Build the Debian source package and the Debian packages into pkg/'
  task(:deb) { sh 'packaging/deb', 'pkg' }

  desc 'Build the RPMs into pkg/'
  task(:rpm) { sh 'packaging/rpm', 'pkg' }

  desc "Use pkg/'s Debian packages in a fresh Debian, with timings: rake package:try[KIND], command or puppetserver"
  task(:try, [:kind]) { |_task, arguments| sh 'packaging/try', 'pkg', arguments[:kind] || 'puppetserver' }
end
