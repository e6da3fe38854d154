# frozen_string_literal: true

module Simpkv
  module Query
    # The tables of the index. It is a cache of the estate: one of another version is deleted and built again.
    #
    # A column whose comment says JSON holds the text of a JSON value. A boolean is 0, 1 or NULL. A time is the text
    # that PuppetDB answers with, such as 2026-11-23T01:02:03.000Z, so that the order of times is that of their texts.
    # Values that are Sensitive are not in the index, and neither are logs of reports and values of events.
    module Schema
      # Changes with each change of the tables, or of what is entered in them.
      VERSION = 16

      TABLES = <<~SQL
        CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

        CREATE TABLE nodes (
          id INTEGER PRIMARY KEY,
          certname TEXT NOT NULL UNIQUE,
          digest TEXT NOT NULL,               -- of the documents that the rows of the node come from
          deactivated TEXT,                   -- a time
          expired TEXT,                       -- a time that has passed: the node has had no run for `node_ttl`
          expires TEXT,                       -- the time at which it expires if it has no run before; NULL: never
          seen TEXT,                          -- the time of the last run that is known: see Estate::Statuses.last_seen
          facts_environment TEXT,
          facts_timestamp TEXT,
          catalog_environment TEXT,
          catalog_timestamp TEXT,
          report_environment TEXT,
          report_timestamp TEXT,
          latest_report_hash TEXT,
          latest_report_status TEXT,
          latest_report_noop INTEGER,
          latest_report_noop_pending INTEGER,
          latest_report_corrective_change INTEGER,
          latest_report_job_id TEXT,
          cached_catalog_status TEXT
        );

        CREATE TABLE factsets (
          node INTEGER PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
          environment TEXT,
          timestamp TEXT,
          producer_timestamp TEXT,
          producer TEXT,
          hash TEXT,
          trusted TEXT                        -- JSON, an object
        );

        CREATE TABLE facts (
          node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
          name TEXT NOT NULL,                 -- of the whole fact, such as os
          value TEXT NOT NULL,                -- JSON
          PRIMARY KEY (name, node)
        ) WITHOUT ROWID;
        CREATE INDEX facts_of_node ON facts (node);

        -- Each path that a fact of some node has had. Paths that no node has any more go when the index is rebuilt.
        CREATE TABLE fact_paths (
          path TEXT NOT NULL,                 -- JSON, a list of texts and numbers such as ["os","family"]
          type TEXT NOT NULL,                 -- string, integer, float, boolean, null
          name TEXT NOT NULL,
          PRIMARY KEY (path, type)
        ) WITHOUT ROWID;

        CREATE TABLE packages (
          id INTEGER PRIMARY KEY,
          package_name TEXT NOT NULL,
          version TEXT NOT NULL,
          provider TEXT NOT NULL,
          UNIQUE (package_name, version, provider)
        );

        -- Nodes have hundreds of packages, and most of them the same.
        CREATE TABLE node_packages (
          node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
          package INTEGER NOT NULL REFERENCES packages,
          PRIMARY KEY (node, package)
        ) WITHOUT ROWID;
        CREATE INDEX nodes_of_package ON node_packages (package);

        CREATE VIEW package_inventory AS
          SELECT node, package_name, version, provider FROM node_packages JOIN packages ON id = package;
        CREATE TRIGGER package_added INSTEAD OF INSERT ON package_inventory BEGIN
          INSERT OR IGNORE INTO packages (package_name, version, provider)
            VALUES (NEW.package_name, NEW.version, NEW.provider);
          INSERT INTO node_packages SELECT NEW.node, id FROM packages
            WHERE package_name = NEW.package_name AND version = NEW.version AND provider = NEW.provider;
        END;
        CREATE TRIGGER package_removed INSTEAD OF DELETE ON package_inventory BEGIN
          DELETE FROM node_packages WHERE node = OLD.node AND package = (SELECT id FROM packages
            WHERE package_name = OLD.package_name AND version = OLD.version AND provider = OLD.provider);
        END;

        -- The catalogs that are stored. The environment of a node's exports is its `catalog_environment`.
        CREATE TABLE catalogs (
          node INTEGER PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
          environment TEXT,
          producer_timestamp TEXT,
          producer TEXT,
          hash TEXT,
          dated INTEGER NOT NULL DEFAULT 0,   -- whether the time is the catalog's own, and not that of the last run
          source TEXT,                        -- see Estate::Snapshots; NULL: unknown
          version TEXT,
          transaction_uuid TEXT,
          catalog_uuid TEXT,
          code_id TEXT,
          job_id TEXT
        );

        CREATE TABLE resources (
          node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
          type TEXT NOT NULL,                 -- such as Nginx::Vhost
          title TEXT NOT NULL,
          resource TEXT NOT NULL,             -- a digest
          exported INTEGER NOT NULL,
          tags TEXT NOT NULL,                 -- JSON, a list of texts
          file TEXT,
          line INTEGER,
          parameters TEXT NOT NULL,           -- JSON, an object
          PRIMARY KEY (type, title, node)
        ) WITHOUT ROWID;
        CREATE INDEX resources_of_node ON resources (node);
        -- Counts by type and title read this index alone, and not the parameters.
        CREATE INDEX resources_by_title ON resources (type, title, exported);

        CREATE TABLE edges (
          node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
          relationship TEXT NOT NULL,
          source_type TEXT NOT NULL,
          source_title TEXT NOT NULL,
          target_type TEXT NOT NULL,
          target_title TEXT NOT NULL
        );
        CREATE INDEX edges_of_node ON edges (node);

        CREATE TABLE reports (
          id INTEGER PRIMARY KEY,
          node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
          hash TEXT NOT NULL UNIQUE,
          latest INTEGER NOT NULL,            -- whether it is the last one of its node
          run INTEGER,                        -- the number of the node's run
          receive_time TEXT,
          start_time TEXT,
          end_time TEXT,
          producer_timestamp TEXT,
          producer TEXT,
          environment TEXT,
          status TEXT,
          noop INTEGER,
          noop_pending INTEGER,
          corrective_change INTEGER,
          type TEXT,
          puppet_version TEXT,
          report_format INTEGER,
          configuration_version TEXT,
          transaction_uuid TEXT,
          catalog_uuid TEXT,
          code_id TEXT,
          job_id TEXT,
          cached_catalog_status TEXT,
          details TEXT                        -- a token: see Estate::ReportDetails
        );
        CREATE INDEX reports_of_node ON reports (node, latest);
        CREATE INDEX reports_by_time ON reports (producer_timestamp);

        -- Most bytes of a report: a query that reads all reports, and no metrics, does not read these.
        CREATE TABLE metrics (
          report INTEGER PRIMARY KEY REFERENCES reports ON DELETE CASCADE,
          metrics TEXT NOT NULL               -- JSON, a list of {category, name, value}
        );

        CREATE TABLE events (
          report INTEGER NOT NULL REFERENCES reports ON DELETE CASCADE,
          number INTEGER,                     -- its place in the report; NULL if its values are secret
          status TEXT,
          timestamp TEXT,
          resource_type TEXT,
          resource_title TEXT,
          property TEXT,
          name TEXT,
          corrective_change INTEGER,
          message TEXT,
          file TEXT,
          line INTEGER,
          containing_class TEXT,
          containment_path TEXT               -- JSON, a list of texts
        );
        CREATE INDEX events_of_report ON events (report);
      SQL
    end
  end
end
