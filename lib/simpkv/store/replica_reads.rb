# frozen_string_literal: true

require 'simpkv/store/layer'

module Simpkv
  # Reads that go on while the server of writes is down. A store reads from that server after its first write, so that
  # it sees what it has written. If that server cannot be asked, this layer repeats the read with a store that has
  # written nothing: any server may answer, even one that lacks the last changes.
  class ReplicaReads < Layer
    # @param below [Store]
    # @param allowed [#call] returns whether the read of a caller may be repeated
    # @yieldreturn [Store] another one with the same options
    def initialize(below, allowed = -> { true }, &open)
      super(below)
      @allowed = allowed
      @open = open
      @mutex = Mutex.new
    end

    # As those of {Store}. A list that fails in the middle is begun anew: its block gets documents again.
    %i[describe exist? kind stat list tree].each do |name|
      define_method(name) do |*arguments, **options, &block|
        anywhere { |store| store.public_send(name, *arguments, **options, &block) }
      end
    end

    # @return [Hash{String => String, Error}] see {Store#get_many}
    def get_many(keys)
      anywhere do |store|
        documents = store.get_many(keys)
        failed = documents.each_value.find { |document| document.is_a?(TransientError) }
        raise failed if failed && store.equal?(@below)

        documents
      end
    end

    # @return [String, nil] see {Store#get}. If the server of writes cannot be asked for the latest document, another
    #   one answers
    def get(key, latest: false, **options)
      anywhere { |store| store.get(key, latest: latest && store.equal?(@below), **options) }
    end

    def close
      super
      @mutex.synchronize { @replica&.close }
    end

    private

    def anywhere
      yield @below
    rescue TransientError => e
      raise if e.is_a?(InterruptedError) || !@allowed.call

      yield(@mutex.synchronize { @replica ||= @open.call })
    end
  end
end
