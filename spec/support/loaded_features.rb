# frozen_string_literal: true

# Appends the files that a Ruby program has loaded, at its end, to the file that LOADED_FEATURES names.
at_exit { File.write(ENV.fetch('LOADED_FEATURES'), "#{$LOADED_FEATURES.join("\n")}\n", mode: 'a') }
