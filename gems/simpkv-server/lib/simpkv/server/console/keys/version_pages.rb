# frozen_string_literal: true

require 'simpkv/server/console/keys/key_pages'
require 'simpkv/server/console/keys/line_diff'
require 'simpkv/server/console/keys/shown_value'
require 'simpkv/server/console/keys/value_form'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # An earlier value beside the current one. Only a form leads there, because both values are read.
        class VersionsComparedPage < DescribedPage
          NO_NEWLINE = '(no newline at the end)'
          private_constant :NO_NEWLINE

          # The address of the answer to the form, loaded again.
          #
          # @return [void]
          def show
            go_to(@place.url)
          end

          # @return [String] HTML
          def submit
            check_values_shown
            description, = description()
            number = form['version']
            earlier, current = [number, '0'].map { |version| ShownValue.new(@keys.value(version).data) }
            view("Compare values of #{title}", 'keys/compare', number: number, kinds: Kinds.new(description),
                                                               earlier: earlier, current: current,
                                                               diff: LineDiff.new(*lines_of(earlier, current)))
          end

          private

          # @return [Array<String>] both values, with a line about the newline at the end if only one has it
          def lines_of(*values)
            texts = values.map(&:beginning)
            open = texts.grep_v(/\n\z/)
            return texts if open.length != 1 || values.any?(&:cut?)

            texts.map { |text| text.equal?(open.first) ? "#{text}\n#{NO_NEWLINE}" : text }
          end
        end

        # The form that deletes an earlier version.
        class VersionDeletionPage < DescribedPage
          OVERTAKEN = 'Somebody else has changed this key meanwhile, so that its versions have other numbers now. ' \
                      'Nothing was deleted. Look at the key, and choose again.'
          private_constant :OVERTAKEN

          # @return [String] HTML
          def show
            description, etag = changed('DELETE')
            number = parameter('version').to_s
            version = description['versions'].find { |each| each['version'].to_s == number && number != '0' }
            raise Problem.new(404, "there is no earlier version #{number}") unless version

            view("Delete a value of #{title}", 'keys/delete_version', version: version, etag: etag)
          end

          # Deletes the version.
          #
          # @return [String, void] HTML if it is not deleted
          def submit
            @keys.delete_version(form['version'], form['etag'])
            go_with_notice(@place.url, 'version_deleted')
          rescue *ERRORS => e
            refuse(failure(e, OVERTAKEN))
          end
        end

        # The form that changes the metadata alone.
        class MetadataPage < DescribedPage
          OVERTAKEN = 'Somebody else has changed this key meanwhile. Nothing was stored. What you have entered is ' \
                      'still below.'
          private_constant :OVERTAKEN

          # @return [String] HTML
          def show
            description, etag = changed('PUT')
            edited(ValueForm.of(description, etag).check_size, description)
          end

          # @return [String, void] HTML if nothing is stored
          def submit
            entered = ValueForm.entered(form)
            @keys.put({ 'metadata' => entered.entered_metadata }, entered.etag)
            go_with_notice(@place.url, 'metadata_stored')
          rescue *ERRORS => e
            raise if entered.nil?

            problem = failure(e, OVERTAKEN)
            description, etag = description()
            edited(problem.status == 412 ? entered.for_etag(etag) : entered, description, problem)
          end

          private

          def edited(form, description, problem = nil)
            view("Change the metadata of #{title}", 'keys/metadata', form: form, problem: problem,
                                                                     hidden: description['metadata_hidden'])
          end
        end
      end
    end
  end
end
