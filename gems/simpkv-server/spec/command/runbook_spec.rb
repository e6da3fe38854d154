# frozen_string_literal: true

require 'shellwords'
require 'simpkv/cli/commands'
require_relative '../../../../rakelib/runbook'
require_relative '../../../../spec/support/messages_of_the_code'

# `rake docs:check` and an example below compare docs/runbook.md with its sources.
RSpec.describe 'docs/runbook.md' do
  page = File.read(File.join(RunbookSources::ROOT, 'docs/runbook.md'), encoding: 'UTF-8')

  # @return [Array<String>] the anchors of the headings of a page
  def anchors(text)
    text.scan(/^#+ (.*)$/).flatten.map { |heading| heading.downcase.gsub(/[^\p{Alnum} _-]/, '').tr(' ', '-') }
  end

  { 'errors' => RunbookSources.errors, 'findings' => RunbookSources.findings, 'http' => RunbookSources.http,
    'exit_codes' => RunbookSources.exit_codes.keys, 'alerts' => RunbookSources.alerts.keys }.each do |section, names|
    it "has a row for each of the #{section} of the code in rakelib/runbook.yaml, and no other rows" do
      expect(names.length).to be > 10
      expect(Runbook.rows.fetch(section).keys).to match_array(names)
    end
  end

  it 'has no other sections, and says in each row what to do' do
    expect(Runbook.rows.keys).to match_array(%w[alerts errors exit_codes findings http])
    members = { 'errors' => %w[symptom cause command remedy], 'findings' => %w[symptom cause command remedy],
                'alerts' => %w[cause command remedy], 'exit_codes' => %w[command remedy], 'http' => %w[cause remedy] }
    Runbook.rows.each do |section, rows|
      rows.each do |name, row|
        expect([name, row.keys]).to eq([name, members.fetch(section)])
        expect(row.values).to all(be_a(String).and(match(/\S/)))
      end
    end
  end

  it 'is what `rake docs` writes' do
    expect(page).to eq(Runbook.page)
  end

  # One text replaced each condition, whatever it was about: "does not answera compiler or the service".
  it 'has the summaries of alerts as they are with all labels' do
    expect(Runbook.summary('SimpkvServerDown'))
      .to eq('The directory server `server` does not answer the compiler `compiler`')
    expect(Runbook.summary('SimpkvSiteUnreadable'))
      .to eq("simpkv on `instance` cannot read the part '`part`' of the state, so that metrics are missing")
  end

  it 'knows the class of each status of the core' do
    expect(RunbookSources.statuses.length).to be > 15
    without = RunbookSources.statuses.keys.select { |status| Simpkv::Error.for(status) == Simpkv::Error }
    expect(without).to eq(%w[ok end])
  end

  it 'has an exit code in the manual for each constant of Failure' do
    constants = Simpkv::Cli::Failure.constants.map { |name| Simpkv::Cli::Failure.const_get(name) }.grep(Integer)
    expect(RunbookSources.exit_codes.keys).to match_array([0, *constants].map(&:to_s))
  end

  it 'names existing commands and options of simpkv' do
    lines = Runbook.commands + page.scan(/`(simpkv [a-z][^`]*)`/).flatten
    calls = lines.grep(/\Asimpkv /).uniq.map { |line| Shellwords.split(line).drop(1) }
    expect(calls.length).to be > 20
    calls.each do |words|
      call = words.join(' ')
      next if %w[--help --version].include?(call)

      command = Simpkv::Cli::Commands.resolve(words)
      expect([call, command]).to match([call, be_a(Class)])
      options = words.grep(/\A-/)
      expect([call, options.reject { |option| command.new.switch(option) }]).to eq([call, []])
    end
  end

  # It deleted all expired keys, also values that the next `get_or_create` would keep as version -1.
  it 'deletes no keys that have expired just now' do
    calls = page.tr("\n", ' ').scan(/simpkv expire[^`]*/)
    expect(calls.length).to be > 1
    expect(calls.grep_v(/ --(dry-run|older-than 30d)\b/)).to eq([])
  end

  it 'quotes existing messages' do
    code = MessagesOfTheCode.read
    symptoms = Runbook.rows.fetch('errors').values.map { |row| row.fetch('symptom') }
    pieces = symptoms.join(' ').scan(/`([^`]+)`/).flatten.grep(/ /).grep_v(/\Asimpkv |No space left|Disk quota/)
                     .flat_map { |text| text.split("'...'") }.map(&:strip).reject(&:empty?)
    expect(pieces.length).to be > 15
    expect(pieces.reject { |piece| code.include?(piece.b) }).to eq([])
  end

  it 'links to existing pages and anchors' do
    expect(anchors(page)).to eq(anchors(page).uniq)
    expect(Runbook.anchors - anchors(page)).to eq([])
    missing = page.scan(/\]\(([^)]+)\)/).flatten.uniq.reject do |target|
      file, anchor = target.split('#', 2)
      path = File.join(RunbookSources::ROOT, 'docs', file.empty? ? 'runbook.md' : file)
      File.exist?(path) && (anchor.nil? || anchors(File.read(path, encoding: 'UTF-8')).include?(anchor))
    end
    expect(missing).to eq([])
  end
end
