package serve

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"braid/address"
	"braid/linkheader"
)

// Mirror is a copy of the served folder, or of one file in it.
type Mirror struct {
	// URL is the location of the folder at the mirror, with a slash at the end, or of one file. The path of a file is
	// appended to the location of the folder. One file is any file whose path below the folder is the end of the URL's
	// path. So http://host/pub/a/x.iso is listed for /a/x.iso and /x.iso, but not for /b/x.iso.
	URL *url.URL
	// Pri is the priority, from 1 (first) to 999999. If zero, no priority is stated, which means 999999.
	Pri int
	// Geo is the country of the mirror, two letters (ISO 3166-1). If empty, no country is stated.
	Geo string
	// Depth is how many levels around a file are mirrored too (RFC 6249, section 3.4). The depth that is announced for
	// a file never exceeds the levels within the folder.
	Depth int
	// Pref is set if the mirror sends the same ETag or Digest as this server. It is ignored for an FTP mirror, which
	// sends no such fields.
	Pref bool
}

const (
	maxDepth = 1000 // more than the folders in a path
	maxURL   = 8 << 10
)

// ParseMirror parses a mirror as users write it, a URL with attributes:
//
//	http://host/base/;pri=1;geo=de;depth=2;pref
//
// The URL ends at the first semicolon; a semicolon within it is written %3B. Each attribute may be used once, in any
// order. Errors do not contain the URL, which may have a password.
func ParseMirror(spec string) (Mirror, error) {
	target, rest, more := strings.Cut(spec, ";")
	u, err := url.Parse(strings.TrimSpace(target))
	if err != nil {
		return Mirror{}, errors.New("mirror: not a URL") // the error of url.Parse contains the URL
	}
	if u.Path == "" {
		u.Path = "/"
	}
	m := Mirror{URL: u}
	seen := map[string]bool{}
	for more {
		var attribute string
		attribute, rest, more = strings.Cut(rest, ";")
		name, value, valued := strings.Cut(attribute, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if seen[name] {
			return Mirror{}, fmt.Errorf("mirror: %q appears twice", name)
		}
		seen[name] = true
		if err := m.set(name, value, valued); err != nil {
			return Mirror{}, err
		}
	}
	if err := m.check(); err != nil {
		return Mirror{}, err
	}
	return m, nil
}

func (m *Mirror) set(name, value string, valued bool) error {
	switch {
	case name == "pref" && !valued:
		m.Pref = true
	case name == "pri":
		n, ok := number(value)
		if !ok || n == 0 { // 0 would mean that no priority is stated
			return fmt.Errorf("mirror: pri is %q, want a number from 1 to %d", value, linkheader.LowestPri)
		}
		m.Pri = n
	case name == "depth":
		n, ok := number(value)
		if !ok {
			return fmt.Errorf("mirror: depth is %q, want a number from 0 to %d", value, maxDepth)
		}
		m.Depth = n
	case name == "geo":
		if value == "" {
			return errors.New("mirror: geo is empty, want two letters")
		}
		m.Geo = strings.ToLower(value)
	default:
		return fmt.Errorf("mirror: unknown attribute %q; the attributes are pri=, geo=, depth= and pref", name)
	}
	return nil
}

// number parses decimal digits, without a sign.
func number(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil
}

func (m Mirror) check() error {
	if m.URL == nil {
		return errors.New("mirror: no URL")
	}
	if err := checkURL(m.URL); err != nil {
		return err
	}
	switch {
	case m.Pri < 0 || m.Pri > linkheader.LowestPri:
		return fmt.Errorf("mirror: pri is %d, want a number from 1 to %d", m.Pri, linkheader.LowestPri)
	case m.Depth < 0 || m.Depth > maxDepth:
		return fmt.Errorf("mirror: depth is %d, want a number from 0 to %d", m.Depth, maxDepth)
	case m.Geo != "" && !isCountry(m.Geo):
		return fmt.Errorf("mirror: geo is %q, want two letters", m.Geo)
	}
	return nil
}

// isCountry reports whether s is two lower-case letters.
func isCountry(s string) bool {
	return len(s) == 2 && 'a' <= s[0] && s[0] <= 'z' && 'a' <= s[1] && s[1] <= 'z'
}

// checkURL returns an error if u must not be published as the location of a copy.
func checkURL(u *url.URL) error {
	switch {
	case !address.HasScheme(u):
		return fmt.Errorf("mirror: scheme is %q, want %s", u.Scheme, address.ListSchemes())
	case u.Opaque != "" || u.Hostname() == "" || strings.ContainsFunc(u.Host, notInHost):
		return errors.New("mirror: the URL has no host, or one that is not plain ASCII (write xn--...)")
	case u.User != nil:
		return errors.New("mirror: the URL has a user name, which would be public")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("mirror: the URL has a query or a fragment")
	case len(u.String()) > maxURL:
		return fmt.Errorf("mirror: the URL is longer than %d bytes", maxURL)
	}
	return nil
}

// notInHost reports whether r is not allowed in a host. It excludes characters that url.URL accepts but that end the
// target of a link, and the zone of an IPv6 address, which is valid on one machine only.
func notInHost(r rune) bool {
	return r >= 0x80 || !unreserved(byte(r)) && !strings.ContainsRune(":[]", r)
}

// String returns m in the format of ParseMirror.
func (m Mirror) String() string {
	var b strings.Builder
	b.WriteString(plainURL(m.URL))
	for _, p := range m.params() {
		b.WriteString(";" + p.Name)
		if p.Value != "" {
			b.WriteString("=" + p.Value)
		}
	}
	return b.String()
}

// params returns the stated attributes of m.
func (m Mirror) params() []linkheader.Param {
	var params []linkheader.Param
	add := func(name, value string) { params = append(params, linkheader.Param{Name: name, Value: value}) }
	if m.Pri != 0 {
		add("pri", strconv.Itoa(m.Pri))
	}
	if m.Geo != "" {
		add("geo", m.Geo)
	}
	if m.Depth != 0 {
		add("depth", strconv.Itoa(m.Depth))
	}
	if m.Pref {
		add("pref", "")
	}
	return params
}

// byPriority compares mirrors by pri, the lowest first.
func byPriority(a, b Mirror) int {
	return cmp.Compare(cmp.Or(a.Pri, linkheader.LowestPri), cmp.Or(b.Pri, linkheader.LowestPri))
}

// ParseMirrors parses one mirror on each line. It ignores empty lines and lines that begin with #. An error states the
// number of the line.
func ParseMirrors(r io.Reader) ([]Mirror, error) {
	var mirrors []Mirror
	lines := bufio.NewScanner(r)
	n := 1
	for ; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		m, err := ParseMirror(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		mirrors = append(mirrors, m)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return mirrors, nil
}
