#compdef PROGRAM
# Completes lines of PROGRAM in zsh. What fits is asked of PROGRAM itself.
# Try it: source <(PROGRAM completion zsh)

_PROGRAM() {
	local -a lines fitting
	local line prefix
	lines=("${(@f)"$(${~words[1]} complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"}")
	prefix=$lines[2]
	[[ -n $prefix ]] && compset -P "${(b)prefix}"
	for line in "${(@)lines[4,-1]}"; do
		[[ -n $line ]] && fitting+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	(( $#fitting )) && _describe PROGRAM fitting
	case $lines[1] in
	files) _files ;;
	folders) _files -/ ;;
	esac
}

if [[ $funcstack[1] == _PROGRAM ]]; then
	_PROGRAM "$@"
else
	compdef _PROGRAM PROGRAM
fi
