package option

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"braid/address"
)

// Trust is the user's file of anchors. For a URL, the file has the keys that must have signed each file at or below the
// URL. A program writes the file, so it is separate from the settings, which the user writes. A nil *Trust is empty.
type Trust struct {
	Bounds []Bound // the longest paths first
}

// A Bound binds a URL, and all URLs below it, to keys. Each file from there must have a signature by one of them.
type Bound struct {
	URL  string       `json:"url"`
	Keys []TrustedKey `json:"keys"`

	server string   // see serverOf
	path   []string // segments
}

// A TrustedKey is a file with keys, or the text of a key.
type TrustedKey struct {
	Name  string `json:"name"`             // the path that the user gave; empty for a text
	Added string `json:"added"`            // a date, as 2026-11-28
	Text  string `json:"key,omitempty"`    // content of the file, if it is a text
	Bytes []byte `json:"base64,omitempty"` // content of any other file
}

// Data returns the content of the file.
func (k *TrustedKey) Data() []byte {
	if k.Text != "" {
		return []byte(k.Text)
	}
	return k.Bytes
}

// trustFile is the JSON form of the file.
type trustFile struct {
	Version int     `json:"v"`
	Trust   []Bound `json:"trust"`
}

// ErrTrustNewer is the error for a file that a newer braid has written.
var ErrTrustNewer = errors.New("written by a newer braid and left unchanged")

// Errors of a file of anchors.
var (
	errTrustVersion = errors.New("written by another version of braid")
	errNoTrust      = errors.New("not in the format of braid trust: it lacks the field trust")
	errTwiceBound   = errors.New("two entries for the same URLs")
	errNoKeys       = errors.New("an entry without keys")
)

// ParseTrust parses a file of anchors. An unknown field is an error: it may limit what is trusted.
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
		return nil, errors.New("something follows its end")
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

// Format returns the content of the file.
func (t *Trust) Format() ([]byte, error) {
	f := trustFile{Version: 1, Trust: []Bound{}}
	if t != nil {
		f.Trust = append(f.Trust, t.Bounds...)
	}
	data, err := json.MarshalIndent(f, "", "  ")
	return append(data, '\n'), err
}

// sort puts the longest paths first.
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
		return Bound{}, errors.New("the URL has more than a server and a path")
	case strings.Contains(u.Path, "*"):
		return Bound{}, errors.New("it has a *, which is not needed: all URLs below it are included")
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

// Of returns the bound with the longest path above u, or nil. If servers may read the path of u in several ways, Of
// returns the bound of any of these readings. If two readings have different bounds, it returns an error.
func (t *Trust) Of(u *url.URL) (of *Bound, err error) {
	if !t.Any() || u == nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil
	}
	server := serverOf(u)
	for _, path := range readings(u) {
		b := t.above(server, path)
		if b != nil && of != nil && b != of {
			return nil, errTwoKeys
		}
		of = cmp.Or(b, of)
	}
	return of, nil
}

// above returns the bound with the longest path above path, or nil.
func (t *Trust) above(server string, path []string) *Bound {
	for i := range t.Bounds {
		b := &t.Bounds[i]
		if b.server == server && len(b.path) <= len(path) && slices.Equal(b.path, path[:len(b.path)]) {
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

// Add adds a key to the bound of the same URLs as b. It reports false if the bound already has the key.
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

// Remove removes the keys that choose accepts from the bound of the same URLs as b. If no key is left, it removes the
// bound. It returns the numbers of removed and of remaining keys.
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

// Any reports whether the file binds any URL.
func (t *Trust) Any() bool { return t != nil && len(t.Bounds) > 0 }

// index returns the index of the bound of the same URLs as b, or -1.
func (t *Trust) index(b Bound) int {
	return slices.IndexFunc(t.Bounds, func(o Bound) bool { return o.server == b.server && slices.Equal(o.path, b.path) })
}

// serverOf returns the host of a URL and its port, or "" if the host is not valid. The default ports of http and https
// are equal, because the scheme of a URL must not decide which keys are trusted. An IPv4 address and its IPv6 form are
// equal, because both lead to the same server.
func serverOf(u *url.URL) string {
	host, err := address.Name(u.Hostname())
	if err != nil || host == "" {
		return ""
	}
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.Unmap().String()
	}
	switch port := strings.TrimLeft(u.Port(), "0"); port {
	case "", "80", "443":
		return host
	default:
		return host + " " + port
	}
}
