// Package web is what clients of HTTP have in common, those for downloads and those for feeds: which proxy a request goes through, what
// of the user's may be told to which server, and what answers say of waiting.
//
// It refuses to read files and the environment by itself, and no error of it quotes a word that might be a secret.
package web

import "fmt"

// A LineError is about a line that cannot be read, of a netrc or cookies file.
type LineError struct {
	Line int
	Why  string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }
