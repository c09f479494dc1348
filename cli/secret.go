package cli

import (
	"os"
	"regexp"
	"strings"
	"unsafe"
)

// forgetArguments copies the command line and then overwrites the secrets in the original, because other users of the
// machine see the original as the title of the process (rule 62). It changes only the arguments that the system gave to
// this process.
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
		// The runtime's strings of the arguments share memory that the kernel filled. No other string in Go may be
		// written to.
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
	// secretWord matches an option of aria2c that has a secret value. The option may be abbreviated.
	secretWord = regexp.MustCompile(`^--[a-z-]*(pa(s(s(wd?)?)?)?|secr(et?)?)$`)
	// secretFlag matches a flag that has a value with a secret after a colon.
	secretFlag = regexp.MustCompile(`^(-[A-Za-z]*[uH]|--user|--header)$`)
	// secretValue matches such a flag with the value in the same word.
	secretValue = regexp.MustCompile(`^(-[A-Za-z]*[uH]|--user=|--header=)`)
)

// secretsOf returns the parts of a word of the command line that are secrets, as pairs of offsets: values of
// flags, and the parts of a URL that source.Mask masks.
func secretsOf(before, word string) (parts [][2]int) {
	if secretWord.MatchString(before) {
		return [][2]int{{0, len(word)}}
	}
	if name, _, ok := strings.Cut(word, "="); ok && secretWord.MatchString(name) {
		return [][2]int{{len(name) + 1, len(word)}}
	}
	if secretFlag.MatchString(before) || secretValue.MatchString(word) {
		if i := strings.IndexByte(word, ':'); i >= 0 {
			return [][2]int{{i + 1, len(word)}}
		}
	}
	query := strings.IndexAny(word, "?#")
	if query < 0 {
		query = len(word)
	}
	if i := strings.Index(word[:query], "://"); i >= 0 {
		authority, _, _ := strings.Cut(word[i+3:query], "/")
		if at := strings.LastIndexByte(authority, '@'); at > 0 {
			parts = append(parts, [2]int{i + 3, i + 3 + at})
		}
	}
	if query < len(word) {
		parts = append(parts, [2]int{query + 1, len(word)})
	}
	return parts
}
