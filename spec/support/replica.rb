# frozen_string_literal: true

require_relative 'slapd'

# A server that keeps a copy of another one's directory, and refers those who want to change it there.
class Replica < Slapd
  # Further lines for the configuration of a supplier.
  SUPPLIER = "moduleload syncprov\noverlay syncprov\n"

  # @param supplier [Slapd] one that was started with those lines
  # @param follows [Boolean] whether it takes over each change at once; else only what there is when it starts, or
  #   starts again: it lags behind
  def initialize(supplier, follows: true, **options)
    type = follows ? 'refreshAndPersist' : 'refreshOnly interval=01:00:00:00'
    super(more: <<~CONFIGURATION, **options)
      syncrepl rid=001 provider=#{supplier.tcp_uri} type=#{type} retry="1 +" searchbase="#{SUFFIX}"
        bindmethod=simple binddn="#{ROOT_DN}" credentials="#{PASSWORD}"
      updateref #{supplier.tcp_uri}
    CONFIGURATION
  end

  private

  # It comes from the supplier.
  def tree
    ''
  end
end
