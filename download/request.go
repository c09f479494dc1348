package download

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// A Request describes one file to download. Only URL is required.
type Request struct {
	// URL is the origin: the answer of its server identifies the file. Its scheme is http, https or ftp.
	URL *url.URL
	// Named is zero if the user gave URL, which may then lead to any address. Otherwise it has the address scopes to
	// which URL may lead: address.Public and the scope of the server that named URL (httpsource.Reply.From).
	Named address.Scope
	// Mirrors are additional places of the same file, given by the user.
	Mirrors []*url.URL
	// Dir is the folder of the file. If empty, it is the current folder.
	Dir string
	// MakeDir makes Dir if it is missing.
	MakeDir bool
	// Name is the final name in Dir. If empty, it is the last segment of the path of URL.
	Name string
	// RemoteName takes the name of the file from the server if Name is empty, which costs an additional request.
	RemoteName bool
	// CheckPath, if not nil, returns an error if the file must not have this path. A server or a document may have
	// chosen its name.
	CheckPath func(path string) error
	// Published has the statements of a feed about the file. Its Claims are digests that the server of URL has
	// published. The file must match them like digests found by Lookup, and they make a lookup unnecessary. The Mirrors
	// of Published are used once a strong digest is known, from Published, the user or the server.
	Published metalink.File
	// Stream, if not nil, receives the bytes in order as they arrive, and no file is made.
	Stream io.Writer
	// Target, if not nil, receives the file, and no file is made on disk. Dir, Name and the fields about an existing
	// file are ignored. Stream and Store must be nil.
	Target Target
	// Store, if not nil, receives the file under its name. Dir is ignored. Stream and Target must be nil.
	Store Store
	// Trust has evidence for the file, and states how much evidence is demanded.
	Trust Trust
	// Described, if not nil, is the description of the file by a Metalink document; see Document.Request.
	Described *Described
	// IfExists states what happens if the file, or a part of it, exists already.
	IfExists IfExists
	// Due records in the journal that the caller has work to do once the file is in place. Until the journal is cleared
	// (partfile.Committed), a later Get that finds the file complete sets Result.Due.
	Due bool
	// NoMetalink ignores Link fields, so that only the origin and Mirrors are used. A Metalink document in place of the
	// file then counts as the file. The URL must still offer the evidence that it offered before.
	NoMetalink bool
	// Near selects mirrors that are tried first.
	Near Near
	// Access states which servers may be asked, and with which credentials.
	Access Access
	// Peers states when BitTorrent peers are asked for the file. The zero value never asks them.
	Peers Peers
	// Seed states how long the complete file is offered to peers.
	Seed Seed
	// Limits bounds the speed and the size of this download.
	Limits Limits
	// Select has patterns for a Metalink document that comes in place of the file: they choose the file in the document.
	Select []string
	// RemoteTime sets the modification time of the file to the server's Last-Modified.
	RemoteTime bool
	// Observe, if not nil, is called with each event, from one goroutine. It must not block.
	Observe func(Event)
	// Detail makes Observe receive Brought events, too.
	Detail bool

	unreadable []string  // notes about lines of a list that could not be read
	base       *baseFile // the wrong file that is replaced; see Client.Repair
	reporter   *reporter // nil except in a batch
}

// own returns r with the channel verify.User for claims without a channel.
func (r Request) own() Request {
	unsaid := func(c verify.Claim) bool { return c.Channel == 0 }
	if slices.ContainsFunc(r.Trust.Claims, unsaid) {
		r.Trust.Claims = slices.Clone(r.Trust.Claims)
		for i := range r.Trust.Claims {
			r.Trust.Claims[i].Channel = cmp.Or(r.Trust.Claims[i].Channel, verify.User)
		}
	}
	return r
}

func (r *Request) observe(ev Event) {
	if r.reporter != nil {
		r.reporter.observe(ev)
	}
	if r.Observe != nil {
		r.Observe(ev)
	}
}

func (r *Request) note(format string, args ...any) {
	if r.Observe == nil {
		return
	}
	r.observe(Note{Text: fmt.Sprintf(format, args...)})
}

var errNoURL = errors.New("the request has no URL")

// Path returns the path of the file. It is empty for a Stream or a Target. The error is that URL has no usable name.
func (r *Request) Path() (string, error) {
	name := r.Name
	switch {
	case !r.hasName():
		return "", nil
	case name == "" && r.URL == nil:
		return "", errNoURL
	case name == "":
		var err error
		if name, err = nameFrom(r.URL); err != nil {
			return "", err
		}
	}
	if r.Store != nil {
		return r.Store.Path(name), nil
	}
	return filepath.Join(r.Dir, name), nil
}

// checkURL returns an error if the URLs cannot be used. If a document describes the file, a place that cannot be
// requested is left out later (rule 39).
func (r *Request) checkURL() error {
	switch u := r.URL; {
	case u == nil:
		return r.fail(Usage, errNoURL, "")
	case r.IfExists.Refresh && !r.onDisk():
		return r.fail(Usage, errors.New("without a name there is no part file to resume"), HintNameIt)
	case (r.Stream != nil || r.Store != nil) && r.Target != nil, r.Stream != nil && r.Store != nil:
		return r.fail(Usage, errors.New("a request cannot have two of Stream, Target and Store"), "")
	case slices.Contains(r.Mirrors, nil):
		return r.fail(Usage, errors.New("the URL of a mirror in the request is nil"), "")
	case r.isSwarm(u):
		return nil
	case source.IsSwarm(u):
		return r.fail(Usage, errors.New(r.Peers.why()), "")
	case !address.HasScheme(u) || u.Host == "":
		return r.fail(Usage, errors.New("not an "+address.ListSchemes()+" URL"), "")
	case checkExcluded(r) != nil:
		return r.fail(Usage, checkExcluded(r), "")
	case !r.usable(u):
		return r.fail(Usage, errors.New("FTP URLs are excluded"), HintFTP)
	case r.described():
		return nil
	case CheckURL(u) != nil: // rule 58
		return r.fail(Usage, CheckURL(u), "")
	case address.SchemeOf(u).NoDocuments && IsDocument(u.Path) && !r.NoMetalink && r.Described == nil:
		return r.fail(Usage, errWebOnly, HintPlain)
	}
	return nil
}

// fail returns an *Error about the download of r.
func (r *Request) fail(k Kind, err error, hint Hint) *Error {
	where := ""
	if r.URL != nil {
		where = source.Mask(r.URL)
	}
	return &Error{Kind: k, What: "download", Where: where, Err: err, Hint: hint}
}

// A Result describes a successful download. For a file described by a document, LastModified is the oldest
// date that a source gave.
type Result struct {
	Path            string // "" for a Stream or a Target
	Size            int64  // bytes
	Proof           verify.Proof
	Unvalidated     []string  // signatures that were found and that no anchor can check
	ETag            string    // of the server's answer; "" if a mirror answered in place of the server
	LastModified    time.Time // in the server's answer; if a mirror answered in its place, that of the replaced file, or zero
	Host            string    // host:port that answered
	Fleeting        bool      // a later version may have the same ETag and LastModified; see source.Answer.Fleeting
	Folders         []string  // folders made for a document's name, deepest first; possibly empty on error
	Continued       bool      // resumed without proof, as the user allowed; see Request.IfExists.Continue
	AlreadyComplete bool      // the right file already existed; nothing was transferred
	NotModified     bool      // the server has nothing newer; nothing was transferred
	Due             bool      // the work of Request.Due remains, after this run or an earlier run
	Older           bool      // the server's file is older, and was not downloaded; NotModified is also true
	Resumed         int64     // bytes kept from an earlier run
	Fetched         int64     // bytes of the file received in this run
	Duplicate       int64     // bytes of Fetched that were already on disk
	Compared        int64     // bytes fetched again for comparison, not part of Fetched
	Sources         []SourceResult
	Looked          verify.Finding // digests found by Request.Trust.Lookup
	Elapsed         time.Duration
}

// A SourceResult describes what one source contributed to a download.
type SourceResult struct {
	ID     int
	URL    string  // masked
	Host   string  // host:port that answered
	Bytes  int64   // bytes that it sent
	Rate   float64 // bytes a second while active
	Err    error   // its last error
	Banned bool    // excluded because of wrong content
}

// An Event reports progress or trouble of a download. The events of a download without trouble are, in this order,
// [Started], [Resumed], [Offered], [SourceUp], [RangeStarted], [RangeAnswered], [Progress], [Brought], [RangeCut],
// [RangeEnded], [Complete], [Verified] or [Seeding]. Others are [SourceDown], [Voided], [Comparing], [Restarted] and
// [Note]. New types of events may be added.
type Event interface{ event() }

type (
	// Started is sent when the download of URL (masked) begins.
	Started struct{ URL, Path string }
	// Resumed is sent when Bytes of an earlier run were found and are used; Have has their ranges.
	Resumed struct {
		Bytes int64
		Have  byterange.Set
	}
	// Offered has the server's description of the file or, if By is not empty, the description in the document By.
	Offered struct {
		File metalink.File
		By   string
	}
	// SourceUp is sent when a source has answered for the first time.
	SourceUp struct {
		ID        int
		URL, Host string
		RTT       time.Duration
		Whole     bool // a range was requested, and the whole file is sent
	}
	// SourceDown is sent when a source failed. The source may be asked again after Back. Gone means that the source is
	// not asked again, and Banned that its content was wrong. Active is the number of sources that are still active.
	SourceDown struct {
		ID           int
		URL, Host    string
		Err          error
		Gone, Banned bool
		Back         time.Duration
		Active       int
	}
	// RangeStarted is sent when a range was requested from a source. Fetch is the number of the request, from 1 in each
	// Get. For each request, exactly one RangeEnded is sent.
	RangeStarted struct {
		ID    int
		URL   string // masked
		Host  string
		Range byterange.Range
		Fetch int
		Why   scheduler.Reason
	}
	// RangeAnswered is sent when the header of an answer was accepted. RTT is the round-trip time to Host, 0 if
	// unknown.
	RangeAnswered struct {
		Fetch, ID int
		Host      string
		RTT       time.Duration
	}
	// RangeCut is sent when a fetch will end at End, earlier than requested, because other fetches get a part of its
	// range. If Ended is set, the fetch ends at once, and End is the end of its received bytes.
	RangeCut struct {
		Fetch, ID int
		Host      string
		End       int64
		Ended     bool
		Why       scheduler.Reason
	}
	// RangeEnded is sent at the end of a fetch, which received Bytes in the time Took. Err is nil unless the source
	// failed.
	RangeEnded struct {
		Fetch, ID int
		Host      string
		Bytes     int64
		Took      time.Duration
		Err       error
	}
	// Brought has the ranges received since the previous Brought event. It is sent about ten times a second and at the
	// end of a fetch, and only if Request.Detail is set. Adjacent bytes of one fetch are one Piece.
	Brought struct{ Pieces []Piece }
	// Progress is sent a few times a second. Size is -1 while unknown. Rate is in bytes a second.
	Progress struct {
		Done, Size int64
		Rate       float64
		Active     int   // active sources
		Twice      int64 // bytes that arrived more than once
	}
	// Voided is sent when received bytes of Range turned out to be wrong and are missing again.
	Voided struct{ Range byterange.Range }
	// Comparing is sent while a complete but wrong file is compared with other sources. Done bytes were compared.
	Comparing struct{ Done, Size int64 }
	// Restarted is sent when the existing bytes cannot be used and the download starts over.
	Restarted struct{ Reason string }
	// Complete is sent when all bytes were received, before the last bytes are checked.
	Complete struct{ Size int64 }
	// Verified is sent when the whole file was checked.
	Verified struct{ Proof verify.Proof }
	// Seeding is sent while the file is in place and offered to peers. The peers have received Given bytes so far.
	Seeding struct {
		Path  string
		Peers int
		Given int64
		Addrs []netip.AddrPort // where peers may connect to this client
	}
	// Note is a message for users who ask for details.
	Note struct {
		Text  string
		Plain bool // the note is also for users who do not ask for details
	}
)

// A Piece is a range received by a fetch.
type Piece struct {
	Fetch int
	Range byterange.Range
}

func (Started) event()       {}
func (Resumed) event()       {}
func (Offered) event()       {}
func (SourceUp) event()      {}
func (SourceDown) event()    {}
func (RangeStarted) event()  {}
func (RangeAnswered) event() {}
func (RangeCut) event()      {}
func (RangeEnded) event()    {}
func (Brought) event()       {}
func (Progress) event()      {}
func (Voided) event()        {}
func (Comparing) event()     {}
func (Restarted) event()     {}
func (Complete) event()      {}
func (Verified) event()      {}
func (Seeding) event()       {}
func (Note) event()          {}
