# frozen_string_literal: true

require_relative '../support/distinguished_names'
require_relative '../support/paths'

RSpec.describe 'Distinguished names' do
  native = Simpkv::Native
  base = 'ou=simpkv,o=puppet,dc=simp'

  Cases.read('dns.tsv').each do |layout, kind, base_dn, id, path, status, result|
    if status == 'ok'
      it "map the #{kind} #{path.inspect} of #{id.inspect} to #{result} (#{layout})" do
        expect(native.dn_from_path(layout.to_sym, kind.to_sym, base_dn, id, path)).to eq(result)
      end
    else
      it "refuse the #{kind} #{path.inspect} of #{id.inspect} below #{base_dn.inspect} (#{layout})" do
        expect { native.dn_from_path(layout.to_sym, kind.to_sym, base_dn, id, path) }
          .to raise_error(Simpkv::Error.for(status), /#{Regexp.escape(result)}/)
      end
    end
  end

  %i[plain hex].each do |layout|
    it "convert back to their paths, for 10,000 paths (#{layout})" do
      random = Random.new(RSpec.configuration.seed)
      10_000.times do
        kind, path = Paths.any(random)
        dn = native.dn_from_path(layout, kind, base, 'default', path)
        possible = layout == :plain ? [[kind, path]] : [[kind, path], [nil, path]]
        expect(possible).to include(DistinguishedNames.path(dn, base))
      end
    end
  end

  it 'require a known layout and kind' do
    expect { native.dn_from_path(:other, :key, base, 'i', 'globals/a') }.to raise_error(ArgumentError, /:plain or :hex/)
    expect do
      native.dn_from_path(:hex, :other, base, 'i', 'globals/a')
    end.to raise_error(ArgumentError, /:key or :folder/)
  end
end
