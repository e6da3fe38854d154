# Completion for simpkv in fish: `simpkv completion fish` prints this file. Names are quoted, and never evaluated.
function __simpkv_complete
    set -l line (commandline -opc)
    set -l word (commandline -ct | string unescape)
    set -l option (string match -r '^--[^=]*=' -- "$word")
    for found in (command $line[1] complete -- $line[2..-1] "$word" 2> /dev/null < /dev/null)
        switch $found
            case \tfiles
                printf '%s\n' "$option"(__fish_complete_path (string replace -- "$option" '' "$word"))
            case \tfolders
                printf '%s\n' "$option"(__fish_complete_directories (string replace -- "$option" '' "$word"))
            case '*'
                echo $found
        end
    end
end
complete -k -c simpkv -f -a '(__simpkv_complete)'
