# frozen_string_literal: true

require 'English'
require 'simpkv/native/header'

RSpec.describe 'The native libraries', :thorough do
  def symbols(*flags, file)
    output = IO.popen(['nm', '--format=posix', '--defined-only', *flags, file], &:read)
    raise "nm #{file} failed" unless $CHILD_STATUS.success?

    output.lines.map { |line| line.split.first }
  end

  root = File.expand_path('../..', __dir__)
  core = File.join(root, 'ext/core')
  header = Simpkv::Native::Header

  it 'export exactly what simpkv.h declares, from libsimpkv.so' do
    exported = symbols('--dynamic', File.join(core, 'build/release/libsimpkv.so'))
    expect(exported).to match_array(header.read.functions.keys)
  end

  it 'export only Init_simpkv_ext, from the extension for MRI' do
    exported = symbols('--dynamic', File.join(root, 'lib/simpkv/simpkv_ext.so'))
    expect(exported).to eq(['Init_simpkv_ext'])
  end

  it 'start the name of every global symbol with skv_' do
    objects = Dir[File.join(core, 'build/release/**/*.o')]
    expect(objects).not_to be_empty
    expect(objects.flat_map { |object| symbols('--extern-only', object) }).to all(start_with('skv_'))
  end

  it 'include no header of Ruby in the core' do
    files = Dir[File.join(core, '{include,src,test,fuzz}/**/*.{c,h}')]
    expect(files).not_to be_empty
    expect(files.select { |file| File.read(file).include?('ruby.h') }).to be_empty
  end

  # The JSON reader is the one part of the core that both use (docs/adr/0139). simpkv_answer.h is for FFI.
  it 'include the public headers, and of the core nothing else but its JSON reader, in the extension for MRI' do
    # The compiler lists all headers but those of the system, which Ruby's are for it.
    ruby = RbConfig::CONFIG.values_at('rubyhdrdir', 'rubyarchhdrdir').flat_map { |folder| ['-isystem', folder] }
    sources = Dir[File.join(root, 'ext/simpkv/*.c')]
    rules = IO.popen(['cc', '-MM', "-I#{core}/include", *ruby, *sources], &:read)
    included = rules.split.grep(/\.h\z/).map { |file| File.expand_path(file) }.uniq
    public = header::PATHS.grep_v(/simpkv_answer/) + Dir["#{core}/src/json/{reader,text}.h"]
    expect(included).to match_array(public + Dir[File.join(root, 'ext/simpkv/*.h')])
  end

  it 'keep the public headers short' do
    expect(header::PATHS.map { |path| File.readlines(path).length }).to all(be <= 400)
  end
end
