package feedtext

import (
	"net/url"
	"strings"

	"braid/address"
)

// URI converts a URL as people write it: a host that is not ASCII (RFC 5891), and other characters that must be
// percent-encoded (RFC 3987, section 3.1). foreign reports that non-ASCII characters were converted, and sloppy that
// others were. The result is not always a URI.
func URI(text string) (uri string, foreign, sloppy bool) {
	host, idn := plainHost(text)
	uri, foreign, sloppy = escapeURL(host)
	return uri, foreign || idn, sloppy
}

// plainHost converts the host of a URL to ASCII. The host may be percent-encoded (RFC 3986, section 3.2.2). An invalid
// host is not changed.
func plainHost(text string) (plain string, changed bool) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text, false
	}
	host, after := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host, after = rest[:end], rest[end:]
	}
	if !strings.Contains(host, "%") && !strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		return text, false
	}
	name, err := url.PathUnescape(host)
	if err != nil {
		return text, false
	}
	if plain, err = address.ASCII(scheme + "://" + name); err != nil || strings.ContainsAny(name, "/?#@") {
		return text, false
	}
	return plain + after, true
}

// escapeURL percent-encodes the characters that a URL must not contain. foreign reports that non-ASCII characters were
// encoded, and sloppy that others were.
func escapeURL(text string) (uri string, foreign, sloppy bool) {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 0x80:
			foreign = true
		case c <= ' ' || strings.IndexByte("\"<>\\^`{|}\x7f", c) >= 0:
			sloppy = true
		default:
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String(), foreign, sloppy
}
