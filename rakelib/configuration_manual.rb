# frozen_string_literal: true

require 'simpkv/version'

# The man page simpkv.yaml(5): docs/configuration.md, with definition lists in place of its tables, which kramdown-man
# does not print, and without links.
module ConfigurationManual
  HEAD = <<~MARKDOWN
    # SIMPKV.YAML 5 "" "simpkv #{Simpkv::VERSION}" "File Formats"

    {::comment}
    `rake docs` makes this page of docs/configuration.md: change what that page is made of.
    {:/comment}

    ## NAME

    simpkv.yaml - options of simpkv

    ## DESCRIPTION

    The file `#{Simpkv::SiteFile::DEFAULT}` has these options in YAML, alone or under the name `simpkv::options`.
    The simpkv command, simpkv serve and Puppet's termini read it. Manifests have them in Hiera.

  MARKDOWN
  SEE_ALSO = "\n## SEE ALSO\n\n[simpkv](man:simpkv(1))\n"
  private_constant :HEAD, :SEE_ALSO

  # The columns that need no name.
  PLAIN = %w[meaning error].freeze
  private_constant :PLAIN

  # @param page [String] docs/configuration.md
  # @return [String] Markdown of kramdown, which is a man page
  def self.of(page)
    text = page.sub(/\A# .*\n/, '').sub(/^<!--.*-->\n/, '').gsub(/\[([^\]]+)\]\([^)]+\)/, '\1').gsub(/^```\w*$/, '~~~')
    text = text.gsub(/^## (.*)/) { "## #{Regexp.last_match(1).upcase}" }
    HEAD + text.gsub(/^(?:\|.*\n)+/) { |table| definitions(table) } + SEE_ALSO
  end

  # @param table [String] Markdown
  # @return [String] a definition list: the first cell of each row, and the others
  def self.definitions(table)
    (_, *head), _, *rows = table.lines.map { |row| row.strip[1...-1].split(/(?<!\\)\|/).map(&:strip) }
    entries = rows.map { |term, *cells| "#{term}\n: #{definition(head, cells)}\n".gsub('\|', '|') }
    [*("Errors:\n" if head == %w[error]), *entries].join("\n")
  end

  def self.definition(head, cells)
    plain, named = head.zip(cells).partition { |name, _| PLAIN.include?(name) }
    [*plain.map(&:last), *named.map { |pair| pair.join(': ') }].join('; ')
  end
  private_class_method :definitions, :definition
end
