# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/query/to_char'

# The expected texts are those of PostgreSQL 15.
RSpec.describe Simpkv::Query::ToChar do
  it 'writes times' do
    { 'YYYY-MM-DD HH24:MI:SS' => '2026-11-21 12:00:00', 'Day' => 'Saturday ', 'FMDay' => 'Saturday',
      'DAY|Day|day|DY|Dy|dy|W|RM|rm|YYY|IYYY|IY|ID|IDDD|SSSS|A.M.|BC|AD' =>
        'SATURDAY |Saturday |saturday |SAT|Sat|sat|3|XI  |xi  |026|2026|26|6|328|43200|P.M.|AD|AD',
      'MONTH Mon mon DD D DDD Q WW IW J CC Y YY' => 'NOVEMBER  Nov nov 21 7 325 4 47 47 2461366 21 6 26',
      'HH HH12 HH24 MI SS MS US AM pm TZ OF' => '12 12 12 00 00 000 000000 PM pm UTC +00',
      'HH24:MI:SS.MS TZ tz OF TZH:TZM' => '12:00:00.000 UTC utc +00 +00:00',
      'month|Month|MON|FMmonth|FMMON' => 'november |November |NOV|november|NOV',
      '"text" FMDD FMMonth TMDay th DDth' => 'text 21 November Saturday th 21st',
      'Y,YYY|YYYY-MM-DD"T"HH24|DDTH|FMDDth|xyz' => '2,026|2026-11-21T12|21ST|21st|x6z',
      'HH12 am|HH P.M.|FMHH12|FMMI' => '12 pm|12 P.M.|12|0' }.each do |mask, expected|
      expect(described_class.format('2026-11-21T12:00:00.000Z', mask)).to eq(expected)
    end
  end

  it 'writes numbers' do
    { [5000, '999999999'] => '      5000', [12.5, '999999999'] => '        13', [12, '9999'] => '   12',
      [12, 'FM0000'] => '0012', [-7, '9999'] => '   -7', [-7, '0000'] => '-0007', [-7, 'FM9999'] => '-7',
      [-7, 'S999'] => '  -7', [-7, '999MI'] => '  7-', [-7, '999PR'] => '  <7>', [5000, '99,999.99'] => '  5,000.00',
      [12.5, '99,999.99'] => '     12.50', [90_000, 'FM99G999D00'] => '90,000.00', [5000, '99'] => ' ##',
      [5000, 'FM9'] => '#', [0.5, '0.99'] => ' 0.50', [0.5, '9.99'] => '  .50', [2, '99th'] => '  2nd',
      [2, 'L99 th'] => '   2 nd', [2, 'x'] => 'x', [2, ''] => '' }.each do |(value, mask), expected|
      expect([value, mask, described_class.format(value, mask)]).to eq([value, mask, expected])
    end
  end

  it 'refuses formats that it does not know, and long ones' do
    %w[9.9EEEE RN 99V9].each do |mask|
      expect { described_class.check(mask, false) }.to raise_error(Simpkv::Query::InvalidError, /not supported/)
    end
    expect { described_class.check('9' * 300, true) }.to raise_error(Simpkv::Query::InvalidError, /at most 256/)
  end
end
