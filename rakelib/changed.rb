# frozen_string_literal: true

# Finds the tests of files that have changed.
module Changed
  # By the beginning of a path, the specs. The first one that fits counts.
  SPECS = {
    'lib/simpkv/access/' => %w[spec/unit/access_*_spec.rb spec/access],
    'lib/simpkv/adapter' => %w[spec/functions spec/conformance],
    'lib/simpkv/backend' => %w[spec/unit/{backend,default_root,ldap_access,layer,vardirs}_spec.rb
                               spec/functions/{file_backend,plugin_file}_spec.rb
                               spec/integration/ldap_messages_spec.rb spec/command/{default_store,stores}_spec.rb],
    'lib/simpkv/audit' => %w[spec/unit/audit*_spec.rb spec/functions/audit_spec.rb spec/command/audit_spec.rb],
    'lib/simpkv/cli/audit_trail' => %w[spec/command/audit_spec.rb],
    'lib/simpkv/cli/commands/stat' => %w[spec/command/{audit,encryption,stores}_spec.rb],
    'lib/simpkv/cli/commands/log' => %w[spec/command/{audit,stores}_spec.rb],
    'lib/simpkv/cli/commands/query' => %w[spec/query/command_spec.rb spec/command/query_spec.rb],
    'lib/simpkv/cli/commands/watch' => %w[spec/command/watch_spec.rb spec/command/watch_directories_spec.rb],
    'lib/simpkv/cli/directory/' => %w[spec/command/init_spec.rb spec/integration/{schema,directory_setup}_spec.rb],
    'lib/simpkv/cli/encryption/' => %w[spec/command/encryption_spec.rb],
    'lib/simpkv/cli/estate/' => %w[spec/command/{access,node*,rule*}_spec.rb],
    'lib/simpkv/cli/doctor/' => %w[spec/command/{doctor*,runbook}_spec.rb],
    'lib/simpkv/cli/puppetdb/' => %w[spec/command/import_puppetdb_spec.rb],
    'lib/simpkv/cli/transfer/' => %w[spec/command/transfer*_spec.rb
                                     spec/command/{export_formats,import_{consul,eyaml,vault}}_spec.rb],
    'lib/simpkv/cli/commands/import_' => %w[spec/command/import_*_spec.rb],
    'lib/simpkv/cli' => %w[spec/command/{base,completion,errors,manual,schemas,stores}_spec.rb],
    'docs/schemas/' => %w[spec/command/schemas_spec.rb], 'docs/clients.md' => %w[spec/server/clients_spec.rb],
    'docs/backup.md' => %w[spec/command/backup_spec.rb],
    'lib/simpkv/config/unit_test' => %w[spec/unit/unit_test_spec.rb spec/functions/{kit,unit_tests}_spec.rb],
    'lib/simpkv/config' => %w[spec/unit/{config,isolation,option_table,site_file}_spec.rb
                              spec/conformance/options_spec.rb spec/functions/support_*_spec.rb],
    'lib/simpkv/document/rich_data' => %w[spec/functions/rich_data_spec.rb spec/conformance/values_spec.rb
                                          spec/estate/exports*_spec.rb spec/command/{base,puppet}_spec.rb],
    'lib/simpkv/document/' => %w[spec/unit/{codec,native,plain_yaml,stored_form,versions}*_spec.rb
                                 spec/conformance/values_spec.rb],
    'lib/simpkv/errors' => %w[spec/unit spec/command/{errors,runbook}_spec.rb],
    'lib/simpkv/estate/puppetdb_data' => %w[spec/command/import_puppetdb_spec.rb spec/server/pdb_commands_spec.rb],
    'lib/simpkv/estate/snapshots' => %w[spec/query/builder_spec.rb],
    'lib/simpkv/estate' => %w[spec/unit/estate_*_spec.rb spec/estate],
    'lib/simpkv/query/' => %w[spec/query/*_spec.rb],
    'lib/simpkv/inspection/' => %w[spec/unit/{inspection,rules}*_spec.rb spec/command/rule*_spec.rb
                                   spec/estate/inspection*_spec.rb],
    'lib/simpkv/native/' => %w[spec/unit/{binding,native,store,memory,ffi}*_spec.rb],
    'lib/simpkv/purging' => %w[spec/unit/purging_*_spec.rb spec/types],
    'lib/simpkv/server/console' => %w[spec/console],
    'lib/simpkv/server' => %w[spec/server],
    'lib/simpkv/status' => %w[spec/command/status_spec.rb spec/server/{metrics,status}_spec.rb
                              spec/unit/status_*_spec.rb],
    'lib/simpkv/resources' => %w[spec/types],
    'lib/simpkv/rspec' => %w[spec/functions/{kit,unit_tests}_spec.rb],
    'lib/simpkv/ssh/' => %w[spec/unit/ssh_*_spec.rb spec/command/ssh_spec.rb],
    'lib/simpkv/store' => %w[spec/unit/{audited,encrypted,layer,store,versioned}*_spec.rb spec/conformance],
    'lib/simpkv/termini/estate_query' => %w[spec/query/function_spec.rb],
    'lib/simpkv/termini/remote_query' => %w[spec/query/function_spec.rb],
    'lib/simpkv/termini' => %w[spec/estate],
    'lib/puppet/indirector/' => %w[spec/estate], 'lib/puppet/reports/' => %w[spec/estate],
    'lib/puppet/type/' => %w[spec/types], 'lib/puppet/provider/' => %w[spec/types],
    'lib/puppet_x/simpkv/resource' => %w[spec/types], 'lib/puppet_x/simpkv/access_' => %w[spec/types/access_spec.rb],
    'lib/puppet' => %w[spec/functions spec/conformance],
    'lib/' => %w[spec/unit], 'ext/simpkv/' => %w[spec/unit/{binding,native,store,memory,codec}*_spec.rb],
    'schema/' => %w[spec/integration/{schema,directory_setup}_spec.rb], 'bin/' => %w[spec/package/commands_spec.rb],
    'examples/console/' => %w[spec/console/{browser,markup}_spec.rb spec/package/commands_spec.rb],
    'rakelib/site' => %w[spec/console/site_spec.rb],
    'packaging/' => %w[spec/distribution spec/package/release_check_spec.rb],
    'rakelib/module_files' => %w[spec/distribution spec/package/module_spec.rb],
    '.pdkignore' => %w[spec/package/module_spec.rb], 'rakelib/distribution_bill' => %w[spec/distribution],
    'examples/monitoring/' => %w[spec/server/monitoring_spec.rb spec/package/documentation_spec.rb],
    '.github/' => %w[spec/package/workflows_spec.rb], 'rakelib/tests' => %w[spec/package/{platforms,workflows}_spec.rb],
    'docs/install.md' => %w[spec/package/platforms_spec.rb spec/unit/documentation_spec.rb],
    'rakelib/release' => %w[spec/package/release*_spec.rb], 'rakelib/bill_' => %w[spec/package/release_spec.rb],
    'examples/module/' => %w[spec/functions/unit_tests_spec.rb],
    'docs/testing.md' => %w[spec/functions/unit_tests_spec.rb],
    'rakelib/runbook' => %w[spec/command/runbook_spec.rb],
    'manifests/' => %w[spec/types/authorized_keys{,_hostile}_spec.rb spec/classes spec/package/class_spec.rb],
    'templates/' => %w[spec/classes], 'data/' => %w[spec/classes], 'types/' => %w[spec/classes],
    'tasks/' => %w[spec/bolt/tasks_spec.rb], 'files/' => %w[spec/bolt/tasks_spec.rb],
    'plans/' => %w[spec/bolt/rotate_spec.rb],
    'examples/' => %w[spec/package/commands_spec.rb], 'docs/high-availability.md' => %w[spec/availability],
    'docs/' => %w[spec/unit/documentation_spec.rb],
    'README.md' => %w[spec/unit/documentation_spec.rb], 'CONTRIBUTING.md' => %w[spec/unit/documentation_spec.rb]
  }.freeze

  # The folders of the C sources, and those of the tests that have another name.
  C = %r{\Aext/core/(?:src|test)/(?<folder>\w+)/}.freeze
  private_constant :SPECS, :C

  class << self
    # @param files [Array<String>] names relative to the root
    # @return [Array<String>] specs and folders of specs that exist, sorted
    def specs(files)
      own, others = files.partition { |file| file.end_with?('_spec.rb') }
      patterns = others.flat_map { |file| SPECS.find { |beginning, _| file.start_with?(beginning) }&.last.to_a }
      wanted = (own + patterns).flat_map { |pattern| Dir[pattern] }.uniq.sort
      wanted.reject { |spec| wanted.include?(File.dirname(spec)) }
    end

    # @param files [Array<String>] names relative to the root
    # @return [Array<String>] the names of C tests
    def c_tests(files)
      folders = files.map { |file| file[C, :folder] }.compact.uniq
      tests = folders.flat_map { |folder| Dir["ext/core/test/#{folder}/test_*.c"] }
      tests.map { |test| File.basename(test, '.c') }.sort
    end

    # @return [Array<String>] the files that differ from the branch main, and those that git does not track
    def files
      base = `git merge-base HEAD origin/main 2> /dev/null || git merge-base HEAD main`.strip
      `git diff --name-only #{base} && git ls-files --others --exclude-standard`.lines(chomp: true).uniq
    end
  end
end
