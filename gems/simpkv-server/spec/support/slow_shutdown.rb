# frozen_string_literal: true

require 'puma'
require 'puma/thread_pool'

# Puma with a long end, in which a signal can arrive. For a process of its own.
module SlowShutdown
  def shutdown(*)
    warn 'the pool of threads ends'
    sleep 2
    super
  end
end

Puma::ThreadPool.prepend(SlowShutdown)
