# frozen_string_literal: true

require 'simpkv/query/entities/nodes'

module Simpkv
  module Query
    module Entities
      # Facts in the forms that queries have for them.
      module Facts
        NODE = { 'certname' => 'n.certname', 'environment' => 'n.facts_environment' }.freeze

        OF_NODE = 'facts f JOIN nodes n ON n.id = f.node'

        FACTSET = 'factsets s JOIN nodes n ON n.id = s.node'

        # The facts of a factset as a list.
        EXPANDED = "json_object('href', '/pdb/query/v4/factsets/' || n.certname || '/facts', 'data', " \
                   "json((SELECT json_group_array(json_object('name', f.name, 'value', json(f.value))) " \
                   'FROM facts f WHERE f.node = s.node)))'

        # The facts of a factset as an object.
        DOCUMENT = '(SELECT json_group_object(f.name, json(f.value)) FROM facts f WHERE f.node = s.node)'

        ALL = [
          Entity.new('facts', OF_NODE, { string: { 'name' => 'f.name' }.merge(NODE), value: { 'value' => 'f.value' } },
                     node: 'f.node', active: true),
          Entity.new('factsets', FACTSET,
                     { string: NODE.merge(Nodes.columns('s', %w[producer hash])),
                       timestamp: Nodes.columns('s', %w[timestamp producer_timestamp]),
                       expanded: { 'facts' => EXPANDED } }, node: 's.node', active: true),
          Entity.new('inventory', FACTSET,
                     { string: NODE, timestamp: { 'timestamp' => 's.timestamp' },
                       facts: { 'facts' => DOCUMENT },
                       document: { 'trusted' => 's.trusted' } }, node: 's.node', active: true),
          Entity.new('fact_names', '(SELECT DISTINCT name FROM fact_paths) v', { string: { 'name' => 'v.name' } },
                     sole: 'name'),
          Entity.new('fact_paths', 'fact_paths p',
                     { path: { 'path' => 'p.path' }, string: { 'type' => 'p.type', 'name' => 'p.name' } }),
          Entity.new('fact_contents', "#{OF_NODE} JOIN json_tree(f.value) j",
                     { string: { 'name' => 'f.name' }.merge(NODE), leaf: { 'path' => 'fact_path(f.name, j.fullkey)' },
                       element: { 'value' => 'j' } },
                     node: 'f.node', active: true, where: "j.type NOT IN ('object', 'array')")
        ].freeze
      end
    end
  end
end
