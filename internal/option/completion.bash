# Completes lines of PROGRAM in bash. What fits is asked of PROGRAM itself.
# Try it: source <(PROGRAM completion bash)

_PROGRAM() {
	local i n=0 word kind prefix rest strip
	local -a line=()
	# bash takes words apart at = and :, and gives those as words of their own.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((n > 0)) && [[ $word == [=:]* || ${line[n - 1]} == *[=:] ]]; then
			line[n - 1]+=$word
		else
			line[n++]=$word
		fi
	done
	word=${COMP_WORDS[COMP_CWORD]}
	[[ $word == [=:] ]] && word=
	strip=${line[n - 1]%"$word"} # what bash keeps of the word by itself
	COMPREPLY=()
	{
		IFS= read -r kind
		IFS= read -r prefix
		IFS= read -r rest
		while IFS=$'\t' read -r word _; do
			COMPREPLY+=("$prefix$word")
		done
	} < <("${COMP_WORDS[0]/#\~\//$HOME/}" complete -- "${line[@]}" 2>/dev/null)
	case $kind in
	files) kind=-f ;;
	folders) kind=-d ;;
	*) kind= ;;
	esac
	if [[ $kind ]]; then
		compopt -o filenames 2>/dev/null
		while IFS= read -r word; do
			COMPREPLY+=("$prefix$word")
		done < <(compgen "$kind" -- "$rest")
	fi
	COMPREPLY=("${COMPREPLY[@]#"$strip"}")
}

complete -F _PROGRAM PROGRAM
