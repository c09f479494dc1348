package web

import "strings"

// ForAnyServer reports whether a header field that the user set may go to servers that the user did not ask: mirrors, and those
// that a redirect leads to. They are few, and named here: whether the value of another field is a secret cannot be told from its
// name (rule 27).
func ForAnyServer(name string) bool {
	switch strings.ToLower(name) {
	case "accept", "accept-charset", "accept-encoding", "accept-language", "user-agent":
		return true
	}
	return false
}
