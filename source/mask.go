package source

import (
	"net/url"

	"braid/internal/mask"
)

// Mask returns u without secrets, for messages, logs and state files. See mask.URL.
func Mask(u *url.URL) string { return mask.URL(u) }

// Escape escapes s, a text from outside, for a terminal or a log. See mask.Escape.
func Escape(s string) string { return mask.Escape(s) }
