package metainfo

import (
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"braid/metalink"
)

// A Magnet is a parsed magnet link (BEP 9). It identifies a torrent and lists where to find the torrent.
type Magnet struct {
	InfoHash Hash
	Name     string     // name for display, unescaped; "" if missing
	Size     int64      // -1 if missing
	Trackers []string   // URLs
	WebSeeds []string   // URLs, as in url-list
	Sources  []*url.URL // URLs of the .torrent file
	Peers    []string   // host:port
}

// IsMagnet reports whether s has the scheme of a magnet link. The link may be invalid.
func IsMagnet(s string) bool {
	return len(s) >= len(magnetScheme) && strings.EqualFold(s[:len(magnetScheme)], magnetScheme)
}

const (
	magnetScheme = "magnet:"
	urnV1        = "urn:btih:"
	urnV2        = "urn:btmh:"
	mostOfOne    = 200
)

// ParseMagnet parses a magnet link. The error is an *Error. Invalid parameters other than the hash are ignored, and so
// are all parameters of a kind after the first 200.
func ParseMagnet(s string) (Magnet, error) {
	if !IsMagnet(s) || len(s) > maxMagnet {
		return Magnet{}, magnetFault("it does not begin with magnet:, or is longer than %d bytes", maxMagnet)
	}
	_, query, ok := strings.Cut(s, "?")
	params, err := url.ParseQuery(query)
	if !ok || err != nil {
		return Magnet{}, magnetFault("its parameters cannot be read")
	}
	m := Magnet{Name: params.Get("dn"), Size: -1}
	if m.InfoHash, err = hashOf(params); err != nil {
		return Magnet{}, err
	}
	if n, err := strconv.ParseInt(params.Get("xl"), 10, 64); err == nil && n >= 0 {
		m.Size = n
	}
	for _, tr := range numbered(params, "tr") {
		if IsTracker(tr) && len(m.Trackers) < mostOfOne {
			m.Trackers = append(m.Trackers, tr)
		}
	}
	for _, ws := range numbered(params, "ws") {
		if _, reason := metalink.Resolve(ws, &url.URL{}); reason == "" && len(m.WebSeeds) < mostOfOne {
			m.WebSeeds = append(m.WebSeeds, ws)
		}
	}
	for _, xs := range numbered(params, "xs") {
		if u, reason := metalink.Resolve(xs, &url.URL{}); reason == "" && len(m.Sources) < mostOfOne {
			m.Sources = append(m.Sources, u)
		}
	}
	for _, peer := range numbered(params, "x.pe") {
		if i := strings.LastIndexByte(peer, ':'); i > 0 && i < len(peer)-1 && len(m.Peers) < mostOfOne {
			m.Peers = append(m.Peers, peer)
		}
	}
	return m, nil
}

// maxMagnet is the maximum length of a link.
const maxMagnet = 64 << 10

func magnetFault(format string, args ...any) error {
	return &Error{What: "magnet link", Offset: -1, Why: fmt.Sprintf(format, args...)}
}

// hashOf parses the info hash, which has 40 hexadecimal digits or 32 digits of base32.
func hashOf(params url.Values) (h Hash, err error) {
	v2 := false
	for _, xt := range numbered(params, "xt") {
		urn := strings.ToLower(xt)
		v2 = v2 || strings.HasPrefix(urn, urnV2)
		digits, ok := strings.CutPrefix(urn, urnV1)
		if !ok {
			continue
		}
		raw, err := hex.DecodeString(digits)
		if len(digits) == 32 {
			raw, err = base32.StdEncoding.DecodeString(strings.ToUpper(digits))
		}
		if err != nil || len(raw) != len(h) {
			return h, magnetFault("%s is not the hash of a torrent", quote(xt))
		}
		return Hash(raw), nil
	}
	if v2 {
		return h, &Error{What: "magnet link", Offset: -1, Why: "it is of version 2 only, which is not supported",
			Unsupported: true}
	}
	return h, magnetFault("it has no hash of a torrent (xt)")
}

// numbered returns the values of a parameter that may be repeated as key, key.1, key.2 and so on.
func numbered(params url.Values, key string) []string {
	values := params[key]
	for i := 1; i <= mostOfOne; i++ {
		values = append(values, params[key+"."+strconv.Itoa(i)]...)
	}
	return values
}
