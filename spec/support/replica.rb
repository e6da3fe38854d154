# frozen_string_literal: true

require_relative 'slapd'

# A server that has a copy of a supplier's directory, and returns a referral to the supplier for each write.
class Replica < Slapd
  # Further lines for the configuration of a supplier.
  SUPPLIER = "moduleload syncprov\noverlay syncprov\n"

  # @param supplier [Slapd] a server that was started with those lines
  # @param as [String] the DN that it binds to the supplier with
  # @param follows [Boolean] whether it replicates each change at once. Otherwise it lags behind, because it only
  #   replicates when it starts or restarts
  def initialize(supplier, as: ROOT_DN, follows: true, **options)
    type = follows ? 'refreshAndPersist' : 'refreshOnly interval=01:00:00:00'
    super(more: <<~CONFIGURATION, **options)
      syncrepl rid=001 provider=#{supplier.tcp_uri} type=#{type} retry="1 +" searchbase="#{SUFFIX}"
        bindmethod=simple binddn="#{as}" credentials="#{PASSWORD}"
      updateref #{supplier.tcp_uri}
    CONFIGURATION
  end

  private

  # It comes from the supplier.
  def tree
    ''
  end
end
