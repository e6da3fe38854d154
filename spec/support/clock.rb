# frozen_string_literal: true

# Sets the clock of {Simpkv::Versions}, and the time zone. Both are as before after the example.
module Clock
  def self.included(group)
    group.around do |example|
      before = ENV.to_h.slice('SIMPKV_NOW', 'TZ')
      Simpkv::Versions.instance_variable_set(:@warned, true) # only the first example would see the warning
      example.run
    ensure
      %w[SIMPKV_NOW TZ].each { |name| ENV[name] = before[name] }
    end
  end

  # @param time [String, nil] as 2026-11-23T15:00:00Z; nil: the clock of the machine
  def clock_at(time)
    ENV['SIMPKV_NOW'] = time
  end

  def in_zone(zone)
    before = ENV.fetch('TZ', nil)
    ENV['TZ'] = zone
    yield
  ensure
    ENV['TZ'] = before
  end
end
