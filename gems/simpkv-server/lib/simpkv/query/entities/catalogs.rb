# frozen_string_literal: true

require 'simpkv/query/entities/nodes'

module Simpkv
  module Query
    module Entities
      # Catalogs, their resources, and the edges between these.
      module Catalogs
        NODE = { 'certname' => 'n.certname', 'environment' => 'n.catalog_environment' }.freeze

        RESOURCES = "json((SELECT CASE WHEN count(*) THEN json_group_array(json_object('resource', r.resource, " \
                    "'type', r.type, 'title', r.title, 'tags', json(r.tags), " \
                    "'exported', json(CASE r.exported WHEN 0 THEN 'false' ELSE 'true' END), 'file', r.file, " \
                    "'line', r.line, 'parameters', json(r.parameters))) END FROM resources r WHERE r.node = c.node))"

        EDGES = "json((SELECT CASE WHEN count(*) THEN json_group_array(json_object('relationship', e.relationship, " \
                "'source_type', e.source_type, 'source_title', e.source_title, 'target_type', e.target_type, " \
                "'target_title', e.target_title)) END FROM edges e WHERE e.node = c.node))"

        def self.expanded(name, data)
          { name => "json_object('href', '/pdb/query/v4/catalogs/' || n.certname || '/#{name}', 'data', #{data})" }
        end
        private_class_method :expanded

        ALL = [
          Entity.new('resources', 'resources r JOIN nodes n ON n.id = r.node',
                     { string: NODE.merge(Nodes.columns('r', %w[type title resource file])),
                       integer: { 'line' => 'r.line' }, boolean: { 'exported' => 'r.exported' },
                       tags: { 'tags' => 'r.tags', 'tag' => 'r.tags' }, document: { 'parameters' => 'r.parameters' } },
                     node: 'r.node', active: true, hidden: ['tag']),
          Entity.new('edges', 'edges e JOIN nodes n ON n.id = e.node',
                     { string: { 'certname' => 'n.certname' }.merge(
                       Nodes.columns('e', %w[relationship source_type source_title target_type target_title])
                     ) }, node: 'e.node', active: true),
          Entity.new('catalogs', 'catalogs c JOIN nodes n ON n.id = c.node',
                     { string: NODE.merge(Nodes.columns('c', %w[producer hash version transaction_uuid catalog_uuid
                                                                code_id job_id])),
                       timestamp: { 'producer_timestamp' => 'c.producer_timestamp' },
                       expanded: expanded('resources', RESOURCES).merge(expanded('edges', EDGES)) }, node: 'c.node')
        ].freeze
      end
    end
  end
end
