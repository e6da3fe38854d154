# frozen_string_literal: true

require_relative '../../rakelib/static_names'

RSpec.describe StaticNames do
  # @return [Array<String>] the violations of two files of these texts
  def violations(first, second)
    described_class.new('a.c' => first, 'b.c' => second).violations
  end

  it 'reports a name that two files define' do
    second = "static inline const char *run(int a,\n                              int b)\n{\n}\n"
    expect(violations("static int run(void)\n{\n}\n", second))
      .to eq(['These files have a static function run() each: a.c, b.c.'])
  end

  it 'ignores declarations, variables, global functions and two definitions in one file' do
    first = "static int run(void);\nstatic int (*go)(void) = f;\nint f(void)\n{\n}\n"
    second = "static int run(void)\n{\n}\nstatic int run(void)\n{\n}\nstatic int go[] = {1};\nint f(void)\n{\n}\n"
    expect(violations(first, second)).to eq([])
  end
end
