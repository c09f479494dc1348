package source

import (
	"net/url"

	"braid/internal/mask"
)

// Mask writes u for messages, logs and state files: mask.URL.
func Mask(u *url.URL) string { return mask.URL(u) }

// Escape makes a text that may come from outside fit for a terminal or a log: mask.Escape.
func Escape(s string) string { return mask.Escape(s) }
