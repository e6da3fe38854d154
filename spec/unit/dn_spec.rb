# frozen_string_literal: true

require_relative '../support/paths'

RSpec.describe 'Distinguished names' do
  native = Simpkv::Native
  base = 'ou=simpkv,o=puppet,dc=simp'

  Cases.read('dns.tsv').each do |layout, kind, base_dn, id, path, status, result|
    if status == 'ok'
      it "are made, #{layout}: the #{kind} #{path.inspect} of #{id.inspect} is #{result}" do
        expect(native.dn_from_path(layout.to_sym, kind.to_sym, base_dn, id, path)).to eq(result)
      end
    else
      it "are not made, #{layout}: the #{kind} #{path.inspect} of #{id.inspect} below #{base_dn.inspect}" do
        expect { native.dn_from_path(layout.to_sym, kind.to_sym, base_dn, id, path) }
          .to raise_error(Simpkv::Error.for(status), /#{Regexp.escape(result)}/)
      end
    end
  end

  Cases.read('paths.tsv').each do |layout, base_dn, id, dn, status, kind, result|
    if status == 'ok'
      it "are read, #{layout}: #{dn} is the #{kind} #{result.inspect}" do
        expected = kind == 'none' ? nil : kind.to_sym
        expect(native.path_from_dn(layout.to_sym, base_dn, id, dn)).to eq([expected, result])
      end
    else
      it "are not read, #{layout}: #{dn.inspect} below #{base_dn}" do
        expect { native.path_from_dn(layout.to_sym, base_dn, id, dn) }
          .to raise_error(Simpkv::Error.for(status), /#{Regexp.escape(result)}/)
      end
    end
  end

  Cases.read('filters.tsv').each do |value, escaped|
    it "stand in a filter: #{value.inspect} as #{escaped}" do
      expect(native.filter_escape(value)).to eq(escaped)
    end
  end

  %i[plain hex].each do |layout|
    it "come back as the path that they were made from, for 10,000 paths, #{layout}" do
      random = Random.new(RSpec.configuration.seed)
      10_000.times do
        kind, path = Paths.any(random)
        dn = native.dn_from_path(layout, kind, base, 'default', path)
        back = native.path_from_dn(layout, base, 'default', dn)
        expect(back[1]).to eq(path)
        expect(back[0]).to eq(kind).or be_nil
        expect(back[0]).to eq(kind) if layout == :plain
      end
    end
  end

  it 'want a known layout and kind' do
    expect { native.dn_from_path(:other, :key, base, 'i', 'globals/a') }.to raise_error(ArgumentError, /:plain or :hex/)
    expect do
      native.dn_from_path(:hex, :other, base, 'i', 'globals/a')
    end.to raise_error(ArgumentError, /:key or :folder/)
  end
end
