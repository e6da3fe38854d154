# frozen_string_literal: true

require_relative 'command_helper'

# Runs `simpkv doctor`, and matches its findings.
RSpec.shared_context 'with doctor' do
  include_context 'with the command'

  # @param user [String] another user of the backend; root gets no check
  # @return [Array<Hash>] its findings that are not ok
  def findings(*arguments, user: 'root')
    outcome = simpkv('doctor', '-o', 'json', '--user', user, *arguments)
    all = JSON.parse(outcome.out)
    code = all.any? { |finding| finding['state'] == 'problem' } ? 69 : 0
    expect(outcome).to have_attributes(err: '', code: code)
    expect(outcome.out).not_to include(DirectoryServer::PASSWORD)
    all.reject { |finding| finding['state'] == 'ok' || of_other_gems?(finding) }
  end

  # Without the folder gems, doctor names the examinations that it leaves out: see spec/command/gems_spec.rb.
  def of_other_gems?(finding)
    Simpkv::Gems.absent('cli/doctor/directory').any? && finding['why'].to_s.start_with?('the examination of ')
  end

  def problem(what, why, fix)
    include('state' => 'problem', 'what' => what, 'why' => a_string_matching(why), 'fix' => a_string_matching(fix))
  end

  def warning(what, why, fix)
    include('state' => 'warning', 'what' => what, 'why' => a_string_matching(why), 'fix' => a_string_matching(fix))
  end
end
