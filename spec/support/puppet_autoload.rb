# frozen_string_literal: true

# Puppet appends each file that its autoloader has loaded to $LOADED_FEATURES. Until Ruby 3.3, the next `require` then
# finds the real path of every file there: seconds of each process that loads Puppet. This appends the same files by
# Ruby's own function, which needs no such search.
if RUBY_ENGINE == 'ruby'
  require 'fiddle'
  require 'puppet/util/autoload'

  Puppet::Util::Autoload.singleton_class.prepend(Module.new do
    provide = Fiddle::Function.new(Fiddle::Handle::DEFAULT['rb_provide'], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID,
                                   need_gvl: true)

    define_method(:mark_loaded) do |name, file|
      file = File.expand_path(file)
      provide.call(file) unless $LOADED_FEATURES.include?(file)
      super(name, file)
    end
  end)
end
