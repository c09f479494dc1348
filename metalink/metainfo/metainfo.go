// Package metainfo reads and writes .torrent files (BEP 3) and parses magnet links (BEP 9). A torrent has the names and
// sizes of its files, the digests of their pieces and the URLs of web servers with the files.
//
//	t, err := metainfo.Parse(resp.Body)
//	...
//	for _, f := range t.Files {
//		fmt.Println(f.Name, f.Size, len(f.Pieces), t.Mirrors(f))
//	}
//
// The package is not a BitTorrent client and makes no requests, so a program that only reads pieces does not link a
// client. A torrent that is truncated, too large or contradicts itself is an error. A file whose name could escape its
// folder is left out. The digests of pieces are of SHA-1. They locate damage, but are weaker evidence than a SHA-256.
//
// Torrents of version 2 alone (BEP 52) are not supported. Hybrid torrents are read as version 1.
package metainfo

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"braid/internal/mask"
	"braid/metalink"
	"braid/verify"
)

// Limits of a torrent. Trackers, web seeds and warnings beyond their limits are dropped. A torrent that exceeds another
// limit is refused.
const (
	MaxSize        = 8 << 20 // bytes
	maxDepth       = 32      // nesting of lists and dictionaries
	maxValues      = 200_000
	maxFiles       = 10_000
	maxPieceLength = 1 << 30

	maxTrackers, maxWebSeeds, maxWarnings = 200, 200, 100
	// maxPlaces limits the number of web seeds times the number of files. But a torrent may always have four web seeds.
	maxPlaces = 40_000
)

// A Torrent is a parsed .torrent file.
type Torrent struct {
	// Name is the name in the torrent, not escaped: of the single file, or of the folder with several files.
	Name string
	// Files are the files with safe names. The names are distinct. Padding files are not included.
	Files []File
	// Refused lists the files that were left out because of their names.
	Refused []metalink.Refused
	// Size is the total size of all files. PieceLength is the size of each piece, except that the last may be shorter.
	Size, PieceLength int64
	InfoHash          Hash
	// Trackers are URLs in tiers. The URLs of the first tier are asked first (BEP 12).
	Trackers [][]string
	// Private reports that peers may come only from the trackers (BEP 27).
	Private bool
	// Warnings describes parts that were ignored and why. The texts are printable.
	Warnings []string

	all   []entry    // all entries, including the entries without a File
	sums  string     // the digests of all pieces, concatenated
	seeds []*url.URL // the web seeds (url-list)
	info  string     // the info dictionary as written; its SHA-1 is InfoHash
}

// A File is a file of a torrent.
type File struct {
	// File has the name and the size, and the pieces if no other file shares them. Its mirrors are set by Document.
	metalink.File
	Offset int64 // position of the file in the torrent, in bytes
	// Span has all pieces that overlap the file, if the file shares some of them with its neighbours. It is zero if
	// Pieces is set, and for an empty file. See verify.NewSpan.
	Span verify.Pieces

	parts []string // elements of Name below the torrent's folder; nil for a single file
}

// Path returns the path of the file within the torrent, without the torrent's folder.
func (f File) Path() string {
	if f.parts == nil {
		return f.Name
	}
	return strings.Join(f.parts, "/")
}

// A Hash identifies a torrent. It is the SHA-1 of the torrent's info dictionary.
type Hash [sha1.Size]byte

// String returns the hash in hexadecimal digits, as in magnet links.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// An Error is an error in a torrent or a magnet link.
type Error struct {
	What   string // "torrent" or "magnet link"
	Offset int    // of the faulty byte; -1 if unknown
	Why    string // printable

	Unsupported bool // the torrent is valid but of an unsupported version
}

// Error returns a message that is printable even if the texts of the torrent are not.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.What + ": " + e.Why
	}
	return e.What + ", byte " + strconv.Itoa(e.Offset) + ": " + e.Why
}

func fault(format string, args ...any) error {
	return &Error{What: "torrent", Offset: -1, Why: fmt.Sprintf(format, args...)}
}

// quote returns a text of a torrent for use in a message.
func quote(s string) string { return mask.Quote(s, 200) }

// Looks reports whether data may be the beginning of a torrent, which is a dictionary with a key.
func Looks(data []byte) bool {
	return len(data) > 1 && data[0] == 'd' && data[1] >= '1' && data[1] <= '9'
}

// Parse parses a torrent. An error in the torrent is an *Error; another error comes from r.
func Parse(r io.Reader) (Torrent, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return Torrent{}, err
	}
	if len(data) > MaxSize {
		return Torrent{}, fault("it is larger than %d MiB", MaxSize>>20)
	}
	doc, err := read(string(data))
	if err != nil {
		return Torrent{}, err
	}
	info := doc.dict["info"]
	if info.kind != 'd' {
		return Torrent{}, fault("it has no dictionary called info")
	}
	t := Torrent{InfoHash: sha1.Sum([]byte(info.raw)), info: info.raw}
	if err := t.describe(info.dict); err != nil {
		return Torrent{}, err
	}
	t.Trackers = t.trackers(doc.dict)
	t.AddWebSeeds(urlList(doc.dict["url-list"])...)
	return t, nil
}

// FromInfo returns the torrent with the info dictionary info, as peers send it (BEP 9), and the trackers as one tier.
// An error in the dictionary is an *Error.
func FromInfo(info []byte, trackers []string) (Torrent, error) {
	t, err := Parse(strings.NewReader("d4:info" + string(info) + "e"))
	if err == nil && len(trackers) > 0 {
		t.Trackers = [][]string{trackers}
	}
	return t, err
}

// Info returns the bencoded info dictionary. InfoHash is its SHA-1.
func (t Torrent) Info() []byte { return []byte(t.info) }

// warn adds a warning, up to maxWarnings.
func (t *Torrent) warn(format string, args ...any) {
	if len(t.Warnings) < maxWarnings {
		t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...))
	}
}

// trackers reads announce-list or, if it is empty, announce (BEP 12). URLs other than http, https and udp are ignored.
func (t *Torrent) trackers(dict map[string]value) (tiers [][]string) {
	lists := dict["announce-list"].list
	if len(lists) == 0 && dict["announce"].kind == 's' {
		lists = []value{{kind: 'l', list: []value{dict["announce"]}}}
	}
	n := 0
	for _, list := range lists {
		var tier []string
		for _, v := range list.list {
			switch {
			case !IsTracker(v.text):
				t.warn("tracker %s is ignored: its URL is not http, https or udp", quote(v.text))
			case n >= maxTrackers:
				t.warn("tracker %s is ignored: beyond the first %d", quote(v.text), maxTrackers)
			default:
				n++
				tier = append(tier, v.text)
			}
		}
		if len(tier) > 0 {
			tiers = append(tiers, tier)
		}
	}
	return tiers
}

// IsTracker reports whether s is a URL of a kind that trackers have.
func IsTracker(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "udp")
}

// urlList reads url-list, a string or a list (BEP 19).
func urlList(v value) (seeds []string) {
	list := v.list
	if v.kind == 's' {
		list = []value{v}
	}
	for _, s := range list {
		if s.text != "" { // some writers use "" for an empty list
			seeds = append(seeds, s.text)
		}
	}
	return seeds
}

// AddWebSeeds adds web seeds, for example those of a magnet link. It drops unusable or surplus seeds with a warning.
func (t *Torrent) AddWebSeeds(seeds ...string) {
	most := min(maxWebSeeds, max(4, maxPlaces/(len(t.Files)+1)))
	for _, s := range seeds {
		u, reason := metalink.Resolve(s, &url.URL{})
		switch {
		case reason != "":
			t.warn("web seed %s is ignored: %s", quote(s), reason)
		case len(t.seeds) >= most:
			t.warn("web seed %s is ignored: beyond the first %d", quote(s), most)
		default:
			t.seeds = append(t.seeds, u)
		}
	}
}

// Mirrors returns the URLs of file f on the web seeds (BEP 19). For a single file, the torrent's name is appended to a
// seed that ends with a slash. For several files, the torrent's name and the file's path are always appended.
func (t *Torrent) Mirrors(f File) (mirrors []*url.URL) {
	for _, seed := range t.seeds {
		at := seed.EscapedPath()
		if f.parts != nil && !strings.HasSuffix(at, "/") {
			at += "/"
		}
		if strings.HasSuffix(at, "/") {
			at += url.PathEscape(t.Name)
			for _, p := range f.parts {
				at += "/" + url.PathEscape(p)
			}
		}
		u := *seed
		u.Path, _ = url.PathUnescape(at) // cannot fail: both parts are correctly escaped
		u.RawPath = at
		mirrors = append(mirrors, &u)
	}
	return mirrors
}
