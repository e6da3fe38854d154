#compdef simpkv
# Completion for simpkv in zsh: `simpkv completion zsh` prints this file. Names are quoted, and never evaluated.
_simpkv() {
  local found word
  local -a typed=("${(@Q)words[2,CURRENT-1]}")
  ((CURRENT > 2)) || typed=()
  for found in "${(@f)$("${words[1]/#\~\//$HOME/}" complete -- "${(@)typed}" "${(Q)PREFIX}" 2> /dev/null < /dev/null)}"; do
    word=${found%%$'\t'*}
    case $found in
      '') ;;
      $'\tfiles') compset -P '*=' ; _files ;;
      $'\tfolders') compset -P '*=' ; _files -/ ;;
      */) compadd -V simpkv -S '' -- "$word" ;;
      *$'\t'*) found="$word -- ${found#*$'\t'}" ; compadd -V simpkv -l -d found -- "$word" ;;
      *) compadd -V simpkv -- "$word" ;;
    esac
  done
}
# As a file in $fpath it is the function itself.
if [[ $funcstack[1] == _simpkv ]]; then
  _simpkv "$@"
else
  compdef _simpkv simpkv
fi
