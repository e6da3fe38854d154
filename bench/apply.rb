# frozen_string_literal: true

require_relative 'support/contest'
require_relative 'support/catalogs'

# `puppet apply` of manifests with more and more gets.
CALLS = [0, 100, 1000].freeze
BLOCKS = SideBySide::QUICK ? 1 : 20

def apply(environment, manifest)
  folders = %w[confdir vardir].flat_map { |name| ["--#{name}", File.join(environment, name)] }
  command = ['/usr/bin/puppet', 'apply', *folders, '--environmentpath', File.dirname(environment), manifest]
  library = { 'RUBYLIB' => File.expand_path('../lib', __dir__) }
  output, status = Open3.capture2e(Contest::OUTSIDE.merge(library), *command)
  status.success? && output[/(\d+) values/] ? output : raise("puppet apply failed: #{output}")
end

report = Report.new('puppet apply')
Contest.at(Contest::OpenLDAP) do |contest|
  folder = contest.folder('small')
  floor = Report.row(report.add(contest.run('get', 'get', ['bare C loop'], folder)), 'bare C loop').median
  Catalogs.of(contest, folder) do |catalogs|
    environment = catalogs.environment('production', 0)
    contestants = CALLS.to_h do |calls|
      manifest = File.join(environment, "#{calls}.pp").tap { |file| File.write(file, catalogs.manifest(calls)) }
      ["#{calls} gets", -> { apply(environment, manifest) }]
    end
    rows = report.add(SideBySide.run('puppet apply', contestants, equal: ->(_answer) {}, seconds: nil,
                                                                  blocks: BLOCKS))
    cost = (Report.row(rows, '1000 gets').median - Report.row(rows, '0 gets').median) / 1000
    report.note(format('A get costs %<cost>.0f us more in the manifest, %<times>.1f bare C gets.',
                       cost: cost * 1e6, times: cost / floor))
  end
  report.print('apply', contest.versions.merge('Puppet' => `/usr/bin/puppet --version`.chomp))
end
