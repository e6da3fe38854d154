# frozen_string_literal: true

require 'simpkv/server/console/keys/key_pages'
require 'simpkv/server/console/keys/kinds'
require 'simpkv/server/console/keys/shown_value'
require 'simpkv/server/console/keys/value_form'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # The form that replaces the value of a key.
        class EditPage < DescribedPage
          # @return [String] HTML: the form without the value
          def show
            description, etag = changed('PUT')
            edited(ValueForm.of(description, etag).check_size, description)
          end

          # @return [String] HTML: the form with the value, a read as that of {ValuePage}
          def submit
            check_values_shown
            description, = description()
            answer = @keys.value(0)
            body = answer.data
            form = ValueForm.with_value(ShownValue.new(body), body, description, answer.headers['etag'])
            edited(form.check_size, description)
          end

          private

          def edited(form, description, problem = nil, button = 'Store')
            view("Change #{title}", 'keys/edit', form: form, problem: problem, button: button, name: false,
                                                 notes: Kinds.new(description).losses(form),
                                                 action: @place.url(do: 'save'))
          end
        end

        # Stores the value of an {EditPage}. If the API refuses it, the page has what the person has entered.
        class SavePage < EditPage
          OVERTAKEN = 'Somebody else has changed this key meanwhile. Nothing was stored, and nothing that they have ' \
                      'stored is lost. What you have entered is still below.'
          # The description of a key that is not there, or cannot be read.
          NO_KEY = { 'versions' => [] }.freeze
          private_constant :OVERTAKEN, :NO_KEY

          # The address of the answer to the form, loaded again.
          #
          # @return [void]
          def show
            go_to(@place.url)
          end

          # @return [String, void] HTML if the value is not stored
          def submit
            entered = ValueForm.entered(form)
            created = @keys.put(entered.body, entered.etag).status == 201
            go_with_notice(@place.url, created ? 'created' : 'stored')
          rescue *ERRORS => e
            raise if entered.nil?

            unsaved(entered, Problem.of(e))
          end

          private

          # Shows the form again, with what the person has entered. If the key was changed meanwhile, a second attempt
          # is for what is stored now.
          def unsaved(form, problem)
            failed = failure(problem, OVERTAKEN)
            return edited(form, NO_KEY, kept(failed)) unless problem.status == 412

            description, etag = stored
            button = etag ? 'Replace what somebody else has stored' : 'Store it as a new key'
            edited(form.for_etag(etag), description, failed, button)
          rescue *ERRORS => e
            unreadable = failure(e, OVERTAKEN)
            edited(form, NO_KEY, Problem.new(unreadable.status, "#{failed.message} The key cannot be read now: " \
                                                                "#{unreadable.message}"))
          end

          # @param problem [Problem]
          # @return [Problem] that a store or a key fails; the text is not lost
          def kept(problem)
            return problem if problem.status < 500

            Problem.new(problem.status, "#{problem.message}. What you have entered is still below.")
          end

          # @return [Array(Hash, String)] as {#description}, without a tag for a key that has expired or does not exist
          def stored
            description, etag = description()
            [description, (etag unless description['expired'])]
          rescue Problem => e
            raise unless e.status == 404

            [NO_KEY, nil]
          end
        end
      end
    end
  end
end
