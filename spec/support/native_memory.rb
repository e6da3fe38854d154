# frozen_string_literal: true

require 'ffi'

# The memory that the C library has allocated to this process. It excludes Ruby's and Java's own heaps.
module NativeMemory
  extend FFI::Library

  # The result of mallinfo2().
  class Counts < FFI::Struct
    layout(*%i[arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost]
             .flat_map { |name| [name, :size_t] })
  end
  private_constant :Counts

  ffi_lib FFI::Library::LIBC
  attach_function :mallinfo2, [], Counts.by_value

  # @return [Integer] bytes
  def self.taken
    GC.start
    counts = mallinfo2
    counts[:uordblks] + counts[:hblkhd]
  end
end
