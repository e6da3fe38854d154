# frozen_string_literal: true

# The pages of docs/console.md, by the names of their files: the path, and the element that is clicked on. SampleEstate
# has what they show.
SCREENSHOTS = {
  'overview' => ['/'], 'node' => ['/nodes/app04.zrh.example.org'], 'wall' => ['/console/wall'],
  'keys' => ['/keys/shop/'], 'key' => ['/keys/shop/db_password'],
  'rule-test' => ['/rules/test?certname=web01.brn.example.org', '.beside button'],
  'access' => ['/access/bindings'],
  'query' => ['/query?query=nodes%5Bcertname%2C+report_timestamp%5D+%7B+latest_report_status+%3D+%22failed%22+%7D']
}.freeze
# Of a file.
SCREENSHOT_BYTES_MAX = 150_000

# Writes the files of a site that has been started.
def take_screenshots(console)
  console.wait_for_status
  SCREENSHOTS.each do |name, (path, element)|
    file = File.expand_path("../docs/console/#{name}.png", __dir__)
    console.browser.visit(path)
    console.browser.click(element) if element
    console.browser.save(file)
    sh 'pngquant', '--force', '--speed', '1', '--output', file, '128', file
    abort "#{file} has #{File.size(file)} bytes" if File.size(file) > SCREENSHOT_BYTES_MAX
  end
end

desc 'Make the screenshots of docs/console.md, with Chromium and pngquant'
task 'docs:screenshots' do
  unless Gem.loaded_specs.key?('ferrum')
    exec({ 'BUNDLE_WITH' => 'server' }, 'bundle', 'exec', 'rake', 'docs:screenshots')
  end
  $LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])
  %w[rspec simpkv ./gems/simpkv-server/spec/support/sample_console].each { |name| require name }
  Dir.mktmpdir do |folder|
    authority = Certificates.new(folder)
    directory = SampleConsole.directory(tls: authority.issue(days: 200), authority: authority)
    console = SampleConsole.new(200, SampleEstate::OPTIONS['reports'])
    take_screenshots(console.start_over(directory))
  ensure
    console&.remove
    directory&.stop
  end
end
