# frozen_string_literal: true

module Simpkv
  module Server
    # The arenas from which malloc of glibc takes memory. It makes up to eight for each processor, so that threads wait
    # for each other less. Ruby runs one thread at a time, and what one thread has freed in its arena no other one uses:
    # the memory of the service rose for hours.
    module Arenas
      # The parameter of mallopt(3), and the number of arenas. A thread that holds the memory of a call of the core
      # needs another one than the thread that runs Ruby.
      PARAMETER = -8
      MOST = 2
      # By this variable an operator chooses another number.
      VARIABLE = 'MALLOC_ARENA_MAX'
      private_constant :PARAMETER, :MOST, :VARIABLE

      # Limits their number, before there are threads. Does nothing where malloc is not that of glibc.
      #
      # @yieldparam why [String] why there is no limit, where Ruby cannot call malloc
      # @return [void]
      def self.limit
        return if ENV[VARIABLE]

        require 'fiddle'
        integer = Fiddle::TYPE_INT
        Fiddle::Function.new(Fiddle::Handle::DEFAULT['mallopt'], [integer, integer], integer).call(PARAMETER, MOST)
      rescue LoadError
        yield "memory may grow for hours, because this Ruby has no fiddle: install that gem, or set #{VARIABLE}=#{MOST}"
      rescue Fiddle::DLError
        nil
      end
    end
  end
end
