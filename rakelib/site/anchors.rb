# frozen_string_literal: true

class Site
  # The anchors that GitHub gives to headings.
  module Anchors
    # @param headings [Array<String>] of one page
    # @return [Array<String>] an anchor for each
    def self.of(headings)
      seen = Hash.new(-1)
      headings.map do |heading|
        anchor = heading.downcase.gsub(/[^\p{Word}\- ]/, '').tr(' ', '-')
        count = seen[anchor] += 1
        count.zero? ? anchor : "#{anchor}-#{count}"
      end
    end
  end
end
