package cli

import (
	"os"
	"strings"
	"unsafe"

	"braid/internal/once"
)

// forgetArguments returns a copy of the command line and overwrites the secrets in the original, because other users of the
// machine can see the original in lists of processes (rule 62). It changes only arguments that the system gave to this process.
func forgetArguments(args []string) []string {
	own := make([]string, len(args))
	for i, arg := range args {
		own[i] = strings.Clone(arg)
	}
	if len(args) == 0 || len(os.Args) == 0 || &args[0] != &os.Args[0] {
		return own
	}
	for i, arg := range args {
		before := ""
		if i > 0 {
			before = own[i-1]
		}
		// The runtime made these strings from memory that the kernel filled. Other strings may be in read-only memory.
		memory := unsafe.Slice(unsafe.StringData(arg), len(arg))
		for _, secret := range secretsOf(before, own[i]) {
			for j := secret[0]; j < secret[1]; j++ {
				memory[j] = '*'
			}
		}
		os.Args[i] = own[i]
	}
	return own
}

var (
	// secretWord matches aria2c's options that take a secret, also if they are abbreviated.
	secretWord = once.Pattern(`^--[a-z-]*(pa(s(s(wd?)?)?)?|secr(et?)?)$`)
	// secretFlag matches a flag with a value, the next word, that has a secret after a colon.
	secretFlag = once.Pattern(`^(-[A-Za-z]*[uH]|--user|--header)$`)
	// secretValue matches a word that consists of such a flag and its value.
	secretValue = once.Pattern(`^(-[A-Za-z]*[uH]|--user=|--header=)`)
)

// secretsOf returns the secret parts of an argument, word, as pairs of offsets. These are values of flags, and the
// parts of a URL that source.Mask masks. before is the preceding argument.
func secretsOf(before, word string) (parts [][2]int) {
	if strings.HasPrefix(before, "--") && secretWord().MatchString(before) {
		return [][2]int{{0, len(word)}}
	}
	if name, _, ok := strings.Cut(word, "="); ok && secretWord().MatchString(name) {
		return [][2]int{{len(name) + 1, len(word)}}
	}
	if before != "" && before[0] == '-' && secretFlag().MatchString(before) ||
		word != "" && word[0] == '-' && secretValue().MatchString(word) {
		if i := strings.IndexByte(word, ':'); i >= 0 {
			return [][2]int{{i + 1, len(word)}}
		}
	}
	query := strings.IndexAny(word, "?#")
	if query < 0 {
		query = len(word)
	}
	start := 0 // of the authority; the URL of a proxy may have no scheme
	if i := strings.Index(word[:query], "://"); i >= 0 {
		start = i + len("://")
	} else if name, _, ok := strings.Cut(word[:query], "="); ok && name != "" && name[0] == '-' {
		start = len(name) + 1
	}
	authority, _, _ := strings.Cut(word[start:query], "/")
	if at := strings.LastIndexByte(authority, '@'); at > 0 {
		parts = append(parts, [2]int{start, start + at})
	}
	if query < len(word) {
		parts = append(parts, [2]int{query + 1, len(word)})
	}
	return parts
}
