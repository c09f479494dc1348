# Completes lines of PROGRAM in fish. What fits is asked of PROGRAM itself.
# Try it: PROGRAM completion fish | source

function __PROGRAM_complete
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	set -l lines ($words[1] complete -- $words[2..] "$last" 2>/dev/null)
	set -l prefix "$lines[2]"
	for line in $lines[4..]
		printf '%s\n' "$prefix$line"
	end
	switch "$lines[1]"
		case files
			for path in (__fish_complete_path "$lines[3]")
				printf '%s\n' "$prefix$path"
			end
		case folders
			for path in (__fish_complete_directories "$lines[3]")
				printf '%s\n' "$prefix$path"
			end
	end
end

complete -c PROGRAM -f -a '(__PROGRAM_complete)'
