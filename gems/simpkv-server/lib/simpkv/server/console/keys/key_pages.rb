# frozen_string_literal: true

require 'simpkv/server/console/excerpt'
require 'simpkv/server/console/keys/keys_page'
require 'simpkv/server/console/keys/kinds'
require 'simpkv/server/console/keys/shown_value'
require 'simpkv/server/console/keys/value_form'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # A page about a key.
        class DescribedPage < KeysPage
          private

          # @return [Array(Hash, String)] what the key has beside its value, and the entity tag of its document; nil in
          #   its place for a caller who may not see values
          def description
            description, etag = description_or_error
            raise Problem.new(500, description['error']) if description.key?('error')

            [description, etag]
          end

          # @return [Array(Hash, String)] as {#description}; for a key that cannot be read, with its `error` only
          def description_or_error
            answer = @keys.description
            raise Problem.new(409, "'#{@place.name}' is a folder, not a key") if answer.data.key?('folders')

            [answer.data, answer.headers['etag']]
          end

          # @param method [String] of the change
          # @return [Array(Hash, String)] as {#description}
          # @raise [Problem] 403: the caller may not see values, and so changes none; or has no right to the change
          def changed(method)
            description, etag = description()
            return may_change(method) && [description, etag] if etag

            raise Problem.new(403, NEEDS_TLS)
          end
        end

        # A key without its value.
        class KeyPage < DescribedPage
          # Bytes of HTML of the metadata.
          METADATA = 15_000
          # Versions with buttons that compare and delete them, so that the page stays small.
          ACTIONS = 30
          private_constant :METADATA, :ACTIONS

          # @return [String, void] HTML; leads to the folder, if the place is one
          def show
            key(*description)
          rescue Problem => e
            raise unless e.status == 409

            go_to(@place.below('', folder: true).url)
          end

          private

          # @param value [Hash] for the template: what the person has asked to see
          def key(description, etag, value = nil)
            view(title, 'keys/key', description: description, value: value, changes: !etag.nil?,
                                    metadata: Excerpt.new(METADATA), kinds: Kinds.new(description),
                                    may: %w[PUT DELETE].to_h { |method| [method, @keys.may?(method)] },
                                    needs_tls: NEEDS_TLS.sub(/\A./, &:upcase))
          end
        end

        # A key with its value, or an earlier one. Only a form leads there.
        class ValuePage < KeyPage
          # The address of the answer to the form, loaded again.
          #
          # @return [void]
          def show
            go_to(@place.url)
          end

          # The API reads the value as the caller, so that the audit log has a line about that.
          #
          # @return [String] HTML
          def submit
            check_values_shown
            number = form['version']
            number = '0' if number.empty?
            described = description
            body = @keys.value(number).data
            key(*described, number: number, shown: ShownValue.new(body), body: body)
          end
        end

        # The form that makes an earlier value the current one. It shows no value.
        class RestorePage < DescribedPage
          OVERTAKEN = 'Somebody else has changed this key meanwhile, so that its versions have other numbers now. ' \
                      'Nothing was restored. Look at the key, and choose again.'
          private_constant :OVERTAKEN

          # @return [String] HTML
          def show
            confirmation(parameter('version').to_s)
          end

          # Restores the value.
          #
          # @return [String, void] HTML if it is not restored
          def submit
            number, expires, etag = %w[version expires etag].map { |name| form[name] }
            times = ValueForm.new('expires' => expires).entered_expiry
            @keys.put({ 'version' => Coercion.convert(-100..-1, number) || number, **times }, etag)
            go_with_notice(@place.url, 'restored')
          rescue *ERRORS => e
            problem = failure(e, OVERTAKEN)
            return refuse(problem) if problem.status != 400 || number.nil?

            confirmation(number, problem, expires)
          end

          private

          def confirmation(number, problem = nil, expires = '')
            description, etag = changed('PUT')
            version = description['versions'].find { |each| each['version'].to_s == number && number != '0' }
            raise Problem.new(404, "there is no earlier version #{number}") unless version

            etag = '' if description['expired']
            view("Restore a value of #{title}", 'keys/restore', version: version, etag: etag, expires: expires,
                                                                description: description, problem: problem)
          end
        end

        # The form that deletes a key.
        class DeletionPage < DescribedPage
          OVERTAKEN = 'Somebody else has changed or deleted this key meanwhile. Nothing was deleted. Look at the key ' \
                      'before you try again.'
          private_constant :OVERTAKEN

          # @return [String] HTML
          def show
            description, etag = description_or_error
            description, etag = changed('DELETE') unless description.key?('error')
            may_change('DELETE')
            view("Delete #{title}", 'keys/delete', description: description, etag: etag)
          end

          # Deletes the key.
          #
          # @return [String, void] HTML if it is not deleted
          def submit
            etag = form['etag']
            check_untagged if etag.empty?
            @keys.delete(etag)
            go_with_notice(@place.parent.url, 'deleted')
          rescue *ERRORS => e
            refuse(failure(e, OVERTAKEN))
          end

          private

          # Only a key whose document the store cannot return has no entity tag, such as one of an encrypted backend. No
          # condition is possible then: a value that somebody stores between this check and the deletion goes, too, and
          # the page says so before.
          #
          # @raise [Problem] 412
          def check_untagged
            description, etag = description_or_error
            raise Problem.new(412, OVERTAKEN) unless description.key?('error') && etag.nil?
          end
        end
      end
    end
  end
end
