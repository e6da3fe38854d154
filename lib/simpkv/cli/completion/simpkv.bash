# Completion for simpkv in bash: `simpkv completion bash` prints this file. Names are quoted, and never evaluated.
_simpkv() {
  local line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[^:=]/} kept word
  # bash replaces the part of the word behind the last break.
  kept=${line##*[[:space:]]}
  kept=${kept%"${kept##*["$breaks"]}"}
  COMPREPLY=()
  while IFS= read -r word; do
    case $word in
      $'\tfiles') compopt -o default 2> /dev/null ;;
      $'\tfolders') compopt -o dirnames 2> /dev/null ;;
      *)
        word=${word%%$'\t'*}
        # More can follow a folder.
        [[ $word != */ ]] || compopt -o nospace 2> /dev/null
        printf -v word %q "${word#"$kept"}"
        COMPREPLY+=("$word")
        ;;
    esac
  done < <("${COMP_WORDS[0]/#\~\//$HOME/}" complete --line "$line" 2> /dev/null < /dev/null)
}
complete -o nosort -F _simpkv simpkv 2> /dev/null || complete -F _simpkv simpkv # bash before 4.4 sorts
