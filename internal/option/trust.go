package option

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"braid/address"
)

// Trust is the user's file of anchors. The file binds URLs to keys: each file at or below such a URL must be signed by one
// of its keys. A program writes the file, so it is separate from the settings, which the user writes. A nil *Trust is empty.
type Trust struct {
	Bounds []Bound // sorted by the lengths of their paths, the longest first
}

// A Bound binds a URL, and all URLs below it, to keys. Each file from there must be signed by one of these keys.
type Bound struct {
	URL  string       `json:"url"`
	Keys []TrustedKey `json:"keys"`

	server string   // see serverOf
	path   []string // segments of the URL's path
}

// A TrustedKey is the content of a file with keys, or the text of a key.
type TrustedKey struct {
	Name  string `json:"name"`             // the file's path as the user gave it; empty for the text of a key
	Added string `json:"added"`            // the date, such as 2026-11-28
	Text  string `json:"key,omitempty"`    // the text, or the content of a file that is text
	Bytes []byte `json:"base64,omitempty"` // content of any other file
}

// Data returns the text of the key, or the content of the file.
func (k *TrustedKey) Data() []byte {
	if k.Text != "" {
		return []byte(k.Text)
	}
	return k.Bytes
}

// trustFile is the file of anchors as JSON.
type trustFile struct {
	Version int     `json:"v"`
	Trust   []Bound `json:"trust"`
}

// ErrTrustNewer is the error for a file of anchors that a newer version of braid has written.
var ErrTrustNewer = errors.New("written by a newer braid and left unchanged")

// The errors for a file of anchors that is invalid.
var (
	errTrustVersion = errors.New("written by another version of braid")
	errNoTrust      = errors.New("not in the format of braid trust: it lacks the field trust")
	errTwiceBound   = errors.New("two entries are for the same URLs")
	errNoKeys       = errors.New("the entry has no keys")
)

// ParseTrust parses data, the content of a file of anchors. An unknown field is an error, because it might limit what
// is trusted.
func ParseTrust(data []byte) (*Trust, error) {
	var head struct {
		Version int `json:"v"`
	}
	if json.Unmarshal(data, &head) == nil && head.Version > 1 {
		return nil, ErrTrustNewer
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var f trustFile
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("not in the format of braid trust: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("text follows the end of the JSON object")
	}
	if f.Version != 1 {
		return nil, errTrustVersion
	}
	if f.Trust == nil {
		return nil, errNoTrust
	}
	t := &Trust{}
	for _, b := range f.Trust {
		at, err := NewBound(b.URL)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q: %w", b.URL, err)
		case len(b.Keys) == 0 || slices.ContainsFunc(b.Keys, func(k TrustedKey) bool { return len(k.Data()) == 0 }):
			return nil, fmt.Errorf("%q: %w", b.URL, errNoKeys)
		case t.index(at) >= 0:
			return nil, fmt.Errorf("%q: %w", b.URL, errTwiceBound)
		}
		at.Keys = b.Keys
		t.Bounds = append(t.Bounds, at)
	}
	t.sort()
	return t, nil
}

// Format returns t as the content of a file of anchors.
func (t *Trust) Format() ([]byte, error) {
	f := trustFile{Version: 1, Trust: []Bound{}}
	if t != nil {
		f.Trust = append(f.Trust, t.Bounds...)
	}
	data, err := json.MarshalIndent(f, "", "  ")
	return append(data, '\n'), err
}

// sort sorts t.Bounds by the lengths of their paths, the longest first.
func (t *Trust) sort() {
	slices.SortStableFunc(t.Bounds, func(a, b Bound) int {
		if len(a.path) != len(b.path) {
			return len(b.path) - len(a.path)
		}
		return strings.Compare(a.URL, b.URL)
	})
}

// NewBound returns a bound without keys for a URL that the user typed.
func NewBound(word string) (Bound, error) {
	u, err := url.Parse(word)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return Bound{}, errors.New("not an http or https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "", u.ForceQuery:
		return Bound{}, errors.New("the URL must have only a scheme, a server and a path")
	case strings.Contains(u.Path, "*"):
		return Bound{}, errors.New("leave out the *: all URLs below this one are included")
	}
	paths := readings(u)
	if len(paths) > 1 {
		return Bound{}, errTwoPaths
	}
	b := Bound{URL: word, path: paths[0]}
	if b.server = serverOf(u); b.server == "" {
		return Bound{}, errors.New("the host is not valid")
	}
	return b, nil
}

// Of returns the Bound with the longest path that is u or above u, or nil. If servers may read the path of u in several
// ways, Of returns the Bound for any of them. If two of them have different Bounds, it returns an error. A path that
// differs only in case matches, unless one of the same length does not differ or the server is a known forge.
func (t *Trust) Of(u *url.URL) (of *Bound, err error) {
	if !t.Any() || u == nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil
	}
	server := serverOf(u)
	_, known := caseless[server]
	for _, path := range readings(u) {
		b := t.above(server, path, func(a, b string) bool { return a == b })
		folded := t.above(server, path, strings.EqualFold)
		if !known && folded != nil && (b == nil || len(b.path) < len(folded.path)) {
			of, b = cmp.Or(b, of), folded
		}
		if b != nil && of != nil && b != of {
			return nil, errTwoKeys
		}
		of = cmp.Or(b, of)
	}
	return of, nil
}

// above returns the Bound at server with the longest path that path begins with, or nil.
func (t *Trust) above(server string, path []string, equal func(a, b string) bool) *Bound {
	for i := range t.Bounds {
		b := &t.Bounds[i]
		if b.server == server && len(b.path) <= len(path) && slices.EqualFunc(b.path, path[:len(b.path)], equal) {
			return b
		}
	}
	return nil
}

// has reports whether k is one of the keys of b.
func (b *Bound) has(k TrustedKey) bool {
	return slices.ContainsFunc(b.Keys, func(own TrustedKey) bool { return bytes.Equal(own.Data(), k.Data()) })
}

// SameKeys reports whether b and o have the same keys, in any order.
func (b *Bound) SameKeys(o *Bound) bool {
	other := func(b *Bound) func(TrustedKey) bool { return func(k TrustedKey) bool { return !b.has(k) } }
	return !slices.ContainsFunc(b.Keys, other(o)) && !slices.ContainsFunc(o.Keys, other(b))
}

// Add adds k to the Bound in t for the same URLs as b, or adds b with k if t has none. It returns false if that Bound
// has k already.
func (t *Trust) Add(b Bound, k TrustedKey) bool {
	i := t.index(b)
	if i < 0 {
		b.Keys = []TrustedKey{k}
		t.Bounds = append(t.Bounds, b)
		t.sort()
		return true
	}
	to := &t.Bounds[i]
	if to.has(k) {
		return false
	}
	to.Keys = append(slices.Clip(to.Keys), k)
	return true
}

// Remove removes the keys that choose accepts from the Bound in t for the same URLs as b, and that Bound if no key is
// left. It returns how many keys it removed and how many are left.
func (t *Trust) Remove(b Bound, choose func(TrustedKey) bool) (removed, left int) {
	i := t.index(b)
	if i < 0 {
		return 0, 0
	}
	kept := slices.DeleteFunc(slices.Clone(t.Bounds[i].Keys), choose)
	removed, left = len(t.Bounds[i].Keys)-len(kept), len(kept)
	if t.Bounds[i].Keys = kept; left == 0 {
		t.Bounds = slices.Delete(t.Bounds, i, i+1)
	}
	return removed, left
}

// Any reports whether t binds any URL.
func (t *Trust) Any() bool { return t != nil && len(t.Bounds) > 0 }

// index returns the index in t.Bounds of the Bound for the same URLs as b, or -1.
func (t *Trust) index(b Bound) int {
	return slices.IndexFunc(t.Bounds, func(o Bound) bool { return o.server == b.server && slices.Equal(o.path, b.path) })
}

// serverOf returns the host of u, and its port unless that is 80 or 443. It returns "" if the host is invalid. These
// ports count as equal, because the scheme of a URL must not decide which keys are trusted. All forms of an address
// also count as equal, because a proxy may accept them: 3221225985, 0xc0.0.2.1 and ::ffff:192.0.2.1 are 192.0.2.1.
func serverOf(u *url.URL) string {
	host, err := address.Name(u.Hostname())
	if err != nil || host == "" {
		return ""
	}
	if a, ok := address.ParseHost(host); ok {
		host = a.Unmap().String()
	}
	switch port := strings.TrimLeft(u.Port(), "0"); port {
	case "", "80", "443":
		return host
	default:
		return host + " " + port
	}
}
