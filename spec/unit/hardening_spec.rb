# frozen_string_literal: true

require 'open3'

# The flags against memory errors of ext/core/core.mk and ext/simpkv/extconf.rb.
RSpec.describe 'The hardening of' do
  def output_of(*command)
    output, status = Open3.capture2e(*command)
    raise "#{command.first} failed: #{output}" unless status.success?

    output
  end

  root = File.expand_path('../..', __dir__)
  core = File.join(root, 'ext/core')

  { 'libsimpkv.so' => [File.join(core, 'build/release/libsimpkv.so'), nil],
    'the extension for MRI' => [File.join(root, 'lib/simpkv/simpkv_ext.so'), :mri] }.each do |name, (file, needs)|
    describe name, needs: needs do
      it 'binds all symbols when it loads, and keeps their table read-only' do
        expect(output_of('readelf', '--wide', '--segments', '--dynamic', file)).to match(/GNU_RELRO.*BIND_NOW/m)
      end

      it 'checks the stack and the sizes of buffers' do
        imported = output_of('nm', '--dynamic', '--undefined-only', file)
        expect(imported).to include('__stack_chk_fail').and match(/ __\w+_chk\b/)
      end
    end
  end

  describe 'the core' do
    # The flags that make would compile with, among those that are chosen here.
    def flags(*variables)
      line = output_of('make', '--dry-run', '--always-make', '--no-print-directory', '-C', @core, '-f', 'core.mk',
                       'build/flags/base/version.o', 'BUILD=build/flags', *variables).lines.grep(/version\.c/).first
      line.scan(/-\S*FORTIFY_SOURCE\S*|-fstack\S+|-fcf\S+/)
    end

    before { @core = core }

    # Processors other than x86 have no -fcf-protection.
    let(:always) do
      _, status = Open3.capture2e('cc', '-fcf-protection', '-fsyntax-only', '-x', 'c', File::NULL)
      ['-fstack-protector-strong', *('-fcf-protection' if status.success?)]
    end

    it 'has all of it by default, with gcc and with clang', :tools do
      %w[gcc clang].each do |compiler|
        expect(flags("CC=#{compiler}")).to match_array(always + ['-D_FORTIFY_SOURCE=2'])
      end
    end

    it 'fortifies only with optimisation and without sanitizers, which the C library would warn of' do
      ['-O0 -g', '-g', '-O1 -g -fsanitize=address,undefined', '-O1 -fsanitize=thread'].each do |chosen|
        expect(flags("CFLAGS=#{chosen}")).to match_array(always)
      end
    end

    it 'keeps the fortification of the compiler or the user, because a second definition is a warning' do
      expect(flags('CFLAGS=-O2 -Wp,-D_FORTIFY_SOURCE=3')).to match_array(always + ['-Wp,-D_FORTIFY_SOURCE=3'])
      expect(flags('CPPFLAGS=-D_FORTIFY_SOURCE=1')).to match_array(always + ['-D_FORTIFY_SOURCE=1'])
      expect(flags('CPPFLAGS=-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3'))
        .to match_array(always + ['-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=3'])
    end
  end
end
