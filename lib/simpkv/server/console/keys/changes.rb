# frozen_string_literal: true

module Simpkv
  module Server
    # The forms that change keys and folders, and the pages that ask before. If the API refuses a change, the page has
    # what the person has entered.
    class Console
      # What a page says if the condition of a change does not hold.
      KEY_CONFLICTS = {
        new: 'There is a key of this name: nothing was stored, and it is as it was.',
        save: 'Somebody else has changed this key meanwhile. Nothing was stored, and nothing that they have stored ' \
              'is lost. What you have entered is still below.',
        restore: 'Somebody else has changed this key meanwhile, so that its versions have other numbers now. Nothing ' \
                 'was restored. Look at the key, and choose again.',
        delete: 'Somebody else has changed or deleted this key meanwhile. Nothing was deleted. Look at the key ' \
                'before you try again.'
      }.freeze
      KEY_NEEDS_TLS = 'values are not shown on a connection without TLS, and nothing is changed there: use the Unix ' \
                      'socket of the service, or its address with ssl'
      # The description of a key that is not there, or cannot be read.
      NO_KEY = { 'versions' => [] }.freeze
      private_constant :KEY_CONFLICTS, :KEY_NEEDS_TLS, :NO_KEY

      private

      def new_key_page(form = Keys::ValueForm.empty, problem = nil)
        raise Problem.new(403, Rights.refusal(caller, 'PUT', @place.right)) unless problem || store_here?

        keys_view('New key', 'keys_edit', form: form, problem: problem, notes: new_key_notes, name: true,
                                          action: @place.url(do: 'new'), button: 'Store the new key')
      end

      # @return [Boolean] whether the rights of the caller allow to store some key below the folder
      def store_here?
        api.rights.below?(caller, 'PUT', "/v1/keys/#{@place.name}", @place.environment, @place.backend)
      end

      # @return [Array<String>]
      def new_key_notes
        return [] if may?('PUT', @place.below('NAME', folder: false).api_path)

        ["Not every name will do: #{caller} may PUT some keys of this folder only."]
      end

      # Stores a key that must not exist.
      def store_new_key
        form = key_form
        # The API answers 404 for a name that is empty, and 400 for one that no key can have.
        raise Problem.new(400, 'the name is missing: nothing was stored') if form.name.delete('/').empty?

        key = @place.below(form.name, folder: false)
        Keys::Client.new(api, key).put(form.body, '')
        go_with_notice(key.url, 'created')
      rescue *KEY_ERRORS => e
        problem = key_failure(e, :new)
        raise if form.nil?

        new_key_page(form, problem)
      end

      def key_form
        Keys::ValueForm.new(Keys::ValueForm::FIELDS.to_h { |name| [name, field(name)] })
      end

      # @param change [Symbol] of {KEY_CONFLICTS}
      # @return [Problem] whose status the page has
      def key_failure(error, change)
        problem = Problem.of(error)
        problem = Problem.new(412, KEY_CONFLICTS.fetch(change)) if problem.status == 412
        response.status = problem.status
        problem
      end

      # The form with the value: a read as that of {#key_value_page}.
      def key_edit_page
        check_values_shown
        description, = key_description
        answer = @keys.value(0)
        body = answer.data
        shown = Keys::ShownValue.new(body)
        form = Keys::ValueForm.with_value(shown, body, description, answer.headers['etag'])
        key_edit_view(form.check_size, description)
      end

      # @param method [String] of the change
      # @return [Array(Hash, String)] as {#key_description}
      # @raise [Problem] 403: the caller may not see values, and so changes none; or has no right to the change
      def changed_key(method)
        description, etag = key_description
        return may_change(method) && [description, etag] if etag

        raise Problem.new(403, KEY_NEEDS_TLS)
      end

      # @raise [Problem] 403: the caller may not see values. The API would name its parameters
      def check_values_shown
        raise Problem.new(403, KEY_NEEDS_TLS) unless api.rights.values?(caller)
      end

      # @return [true]
      # @raise [Problem] 403
      def may_change(method)
        return true if @keys.may?(method)

        raise Problem.new(403, Rights.refusal(caller, method, @place.right))
      end

      # The form without the value.
      def key_replacement_page
        description, etag = changed_key('PUT')
        key_edit_view(Keys::ValueForm.of(description, etag).check_size, description)
      end

      def key_edit_view(form, description, problem = nil, button = 'Store')
        keys_view("Change #{@place.name}", 'keys_edit', form: form, problem: problem, button: button, name: false,
                                                        notes: Keys::Kinds.new(description).losses(form),
                                                        action: @place.url(do: 'save'))
      end

      def save_key
        form = key_form
        created = @keys.put(form.body, form.etag).status == 201
        go_with_notice(@place.url, created ? 'created' : 'stored')
      rescue *KEY_ERRORS => e
        raise if form.nil?

        key_unsaved(form, Problem.of(e))
      end

      # Shows the form again, with what the person has entered. If the key was changed meanwhile, a second attempt is
      # for what is stored now.
      def key_unsaved(form, problem)
        failed = key_failure(problem, :save)
        return key_edit_view(form, NO_KEY, text_kept(failed)) unless problem.status == 412

        description, etag = stored_key
        button = etag ? 'Replace what somebody else has stored' : 'Store it as a new key'
        key_edit_view(form.for_etag(etag), description, failed, button)
      rescue *KEY_ERRORS => e
        unreadable = key_failure(e, :save)
        key_edit_view(form, NO_KEY, Problem.new(unreadable.status, "#{failed.message} The key cannot be read now: " \
                                                                   "#{unreadable.message}"))
      end

      # @param problem [Problem]
      # @return [Problem] that a store or a key fails; the text is not lost
      def text_kept(problem)
        return problem if problem.status < 500

        Problem.new(problem.status, "#{problem.message}. What you have entered is still below.")
      end

      # @return [Array(Hash, String)] as {#key_description}, without a tag for a key that has expired or does not exist
      def stored_key
        description, etag = key_description
        [description, (etag unless description['expired'])]
      rescue Problem => e
        raise unless e.status == 404

        [NO_KEY, nil]
      end

      def key_restore_page
        confirm_key_restoring(key_parameter('version').to_s)
      end

      def confirm_key_restoring(number, problem = nil, expires = '')
        description, etag = changed_key('PUT')
        version = description['versions'].find { |each| each['version'].to_s == number && number != '0' }
        raise Problem.new(404, "there is no earlier version #{number}") unless version

        etag = '' if description['expired']
        keys_view("Restore a value of #{@place.name}", 'keys_restore', version: version, etag: etag, expires: expires,
                                                                       description: description, problem: problem)
      end

      def restore_key
        number, expires, etag = %w[version expires etag].map { |name| field(name) }
        times = Keys::ValueForm.new('expires' => expires).entered_expiry
        @keys.put({ 'version' => Coercion.convert(-100..-1, number) || number, **times }, etag)
        go_with_notice(@place.url, 'restored')
      rescue *KEY_ERRORS => e
        problem = key_failure(e, :restore)
        return keys_refused_view(@place.name, problem) if problem.status != 400 || number.nil?

        confirm_key_restoring(number, problem, expires)
      end

      def key_deletion_page
        description, etag = key_or_error
        description, etag = changed_key('DELETE') unless description.key?('error')
        may_change('DELETE')
        keys_view("Delete #{@place.name}", 'keys_delete', description: description, etag: etag)
      end

      def delete_key
        etag = field('etag')
        check_untagged if etag.empty?
        @keys.delete(etag)
        go_with_notice(@place.parent.url, 'deleted')
      rescue *KEY_ERRORS => e
        keys_refused_view(@place.name, key_failure(e, :delete))
      end

      # Only a key whose document the store cannot return has no entity tag, such as one of an encrypted backend. No
      # condition is possible then: a value that somebody stores between this check and the deletion goes, too, and the
      # page says so before.
      #
      # @raise [Problem] 412
      def check_untagged
        description, etag = key_or_error
        raise Problem.new(412, KEY_CONFLICTS.fetch(:delete)) unless description.key?('error') && etag.nil?
      end

      def folder_deletion_page(problem = nil)
        raise Problem.new(404, 'the root of all keys is not deleted here') if @place.root?

        size = @keys.size
        may_change('DELETE')
        keys_view("Delete #{@place.name}/", 'keys_delete_folder', size: size, problem: problem)
      end

      # Deletes a folder, if the person has typed its name, and has seen how much it has.
      def delete_folder
        raise Problem.new(404, 'the root of all keys is not deleted here') if @place.root?

        problem = folder_unconfirmed
        return folder_deletion_page(key_failure(problem, :delete)) if problem

        @keys.delete_folder
        go_with_notice(@place.parent.url, 'folder_deleted')
      end

      # @return [Problem, nil]
      def folder_unconfirmed
        unless field('name').strip.chomp('/') == @place.name
          return Problem.new(400, 'What you have typed is not the name of this folder. Nothing was deleted.')
        end
        return if field('count') == @keys.size.values_at('keys', 'folders').join('+')

        Problem.new(409, 'The number of keys has changed meanwhile. Nothing was deleted. Look at it again.')
      end
    end
  end
end
