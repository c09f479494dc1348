// Package metainfo reads and writes .torrent files (BEP 3) and magnet links (BEP 9): what the files of a torrent are called,
// how long they are, what the digests of their pieces are, and where web servers have them.
//
//	t, err := metainfo.Parse(resp.Body)
//	...
//	for _, f := range t.Files {
//		fmt.Println(f.Name, f.Size, len(f.Pieces), t.Mirrors(f))
//	}
//
// It refuses to be a BitTorrent client: it knows no peers, and makes no requests, so that a program that reads the pieces of a
// torrent pays for nothing else. It refuses to be generous: a torrent that is cut off, too large or contradicts itself is an
// error as a whole, and a file whose name could reach outside its folder is left out. It believes nothing:
// digests of pieces are of SHA-1 and locate damage.
//
// Torrents of version 2 alone (BEP 52) are not read; those of both versions are, as version 1.
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

// Limits of a torrent. Beyond them it is refused, but for those of the last rows, which are cut.
const (
	MaxSize        = 8 << 20 // bytes
	maxDepth       = 32      // lists and dictionaries in each other
	maxValues      = 200_000
	maxFiles       = 10_000
	maxPieceLength = 1 << 30

	maxTrackers, maxWebSeeds, maxWarnings = 200, 200, 100
	// maxPlaces is how many web seeds all files may have together, but for four of each.
	maxPlaces = 40_000
)

// A Torrent says what files are.
type Torrent struct {
	// Name is that of the only file, or of the folder of several: as it was written, to be escaped.
	Name string
	// Files are those with safe names, each another one. They do not have the files that only fill up pieces.
	Files []File
	// Refused are the files that were left out, because of their names.
	Refused []metalink.Refused
	// Size is that of all files together, PieceLength that of all pieces but the last.
	Size, PieceLength int64
	InfoHash          Hash
	// Trackers are URLs, in tiers: those of the first tier are asked first (BEP 12).
	Trackers [][]string
	// Private says that peers are to be had from the trackers only (BEP 27).
	Private bool
	// Warnings say what was not taken, and why: for people, printable.
	Warnings []string

	all   []entry    // also those that are not among Files
	sums  string     // of the pieces, one after the other
	seeds []*url.URL // url-list
	info  string     // the dictionary that InfoHash is of, as it was written
}

// A File is a file of a torrent.
type File struct {
	// File has the name, the size in bytes and the pieces, if they are of this file alone; its mirrors are in Document.
	metalink.File
	Offset int64 // where it begins in the torrent
	// Span is all pieces that have bytes of the file, if some have those of its neighbours, too: zero if Pieces has them,
	// and for an empty file. See verify.NewSpan.
	Span verify.Pieces

	parts []string // of Name, below the folder of the torrent; nil for its only file
}

// Path is what a file is called within the torrent, without the torrent's own folder.
func (f File) Path() string {
	if f.parts == nil {
		return f.Name
	}
	return strings.Join(f.parts, "/")
}

// A Hash is what names a torrent: the SHA-1 of its dictionary "info".
type Hash [sha1.Size]byte

// String is the hash in hexadecimal digits, as in magnet links.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// An Error says what is wrong with a torrent or a magnet link: it or its author is at fault.
type Error struct {
	What   string // "torrent" or "magnet link"
	Offset int    // of the byte where it shows; -1: nowhere in particular
	Why    string // printable

	Unsupported bool // it is whole, and of a kind that is not read here
}

// Error is printable, whatever the torrent says.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.What + ": " + e.Why
	}
	return e.What + ", byte " + strconv.Itoa(e.Offset) + ": " + e.Why
}

func fault(format string, args ...any) error {
	return &Error{What: "torrent", Offset: -1, Why: fmt.Sprintf(format, args...)}
}

// quote is a word of a torrent in an error.
func quote(s string) string { return mask.Quote(s, 200) }

// Looks says that data, the first bytes of something, may be the beginning of a torrent: of a dictionary that has a key.
func Looks(data []byte) bool {
	return len(data) > 1 && data[0] == 'd' && data[1] >= '1' && data[1] <= '9'
}

// Parse reads a torrent. What is wrong with it is an *Error; other errors are those of r.
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

// FromInfo makes a torrent of its dictionary info alone, as peers tell it (BEP 9), and of trackers of one tier. What is
// wrong with it is an *Error.
func FromInfo(info []byte, trackers []string) (Torrent, error) {
	t, err := Parse(strings.NewReader("d4:info" + string(info) + "e"))
	if err == nil && len(trackers) > 0 {
		t.Trackers = [][]string{trackers}
	}
	return t, err
}

// Info is the dictionary that InfoHash is of, bencoded.
func (t Torrent) Info() []byte { return []byte(t.info) }

// warn tells people what was not taken.
func (t *Torrent) warn(format string, args ...any) {
	if len(t.Warnings) < maxWarnings {
		t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...))
	}
}

// trackers reads announce-list or, where there is none, announce (BEP 12). Only http, https and udp lead to a tracker.
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
				t.warn("tracker %s is ignored: not an http, https or udp URL", quote(v.text))
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

// IsTracker says that s is the URL of a tracker.
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
		if s.text != "" { // some writers mean none
			seeds = append(seeds, s.text)
		}
	}
	return seeds
}

// AddWebSeeds adds web seeds from elsewhere, as of a magnet link.
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

// Mirrors are where web servers have a file of t (BEP 19). The URL of a single file may end with a slash, and its name is then
// appended; where there are several, name and path always are.
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
		u.Path, _ = url.PathUnescape(at) // both are escaped as they should be
		u.RawPath = at
		mirrors = append(mirrors, &u)
	}
	return mirrors
}
