# frozen_string_literal: true

require 'delegate'

# A store that does something before one of its calls, by the number of the call, or after it.
class DisturbedStore < SimpleDelegator
  # @return [Integer] the number of calls since {#disturb}
  attr_reader :calls

  def initialize(store)
    super
    disturb({})
  end

  # @param disturbances [Hash{Integer => Proc}] by the number of a call from now on; negative: after it
  def disturb(disturbances)
    @disturbances = disturbances
    @calls = 0
  end

  %i[get get_many put put_many delete deletetree list].each do |name|
    define_method(name) do |*arguments, **options, &block|
      @calls += 1
      @disturbances[@calls]&.call
      result = options.empty? ? super(*arguments, &block) : super(*arguments, **options, &block)
      @disturbances[-@calls]&.call
      result
    end
  end
end
