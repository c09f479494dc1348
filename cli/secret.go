package cli

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"unsafe"

	"braid/source"
)

// maskWord shows a word of the command line that should be a URL, without its secrets (rule 62), also when it
// cannot be parsed.
func maskWord(word string) string {
	if u, err := url.Parse(word); err == nil && *u != (url.URL{Scheme: u.Scheme}) { // of http:// Mask leaves http:
		return source.Mask(u)
	}
	if i := strings.LastIndexByte(word, '@'); i >= 0 { // first, as a password may have a ? or #
		word = "***" + word[i:]
	}
	if i := strings.IndexAny(word, "?#"); i >= 0 {
		word = word[:i] + "?***"
	}
	return source.Escape(shorten(word, 200))
}

// forgetArguments copies the command line and then overwrites the secrets in the original, which is what
// others on the machine see as the title of the process (rule 62). It touches nothing but the arguments that
// the system gave to this process.
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
		// The runtime's strings are the memory that the kernel filled; nothing else in Go may be written so.
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
	// secretFlag is a flag whose value has a secret after its colon.
	secretFlag = regexp.MustCompile(`^(-[A-Za-z]*[uH]|--user|--header)$`)
	// secretValue is the same with the value in the same word.
	secretValue = regexp.MustCompile(`^(-[A-Za-z]*[uH]|--user=|--header=)`)
)

// secretsOf finds the parts of a word of the command line that are secrets, as pairs of offsets: values of
// flags, and what Mask masks of a URL.
func secretsOf(before, word string) (parts [][2]int) {
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
