package download

import (
	"cmp"
	"context"
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
	"braid/download/state"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// A Request names one file to download. Only URL must be there.
type Request struct {
	// URL is the origin: the server whose answer says what the file is. Its scheme is http, https or ftp.
	URL *url.URL
	// Named says that not the user named URL but a server, and to where it may lead: address.Public and where that server is
	// (httpsource.Reply.From). If zero, the user did, and it may lead anywhere.
	Named address.Scope
	// Mirrors are further places of the same file that the user named.
	Mirrors []*url.URL
	// Dir is the folder of the file. If empty, it is the current one.
	Dir string
	// MakeDir makes Dir if it is missing.
	MakeDir bool
	// Name is the final name in Dir. If empty, it is the last segment of the path of URL.
	Name string
	// RemoteName lets the server name the file if Name is empty. It costs a request before the others.
	RemoteName bool
	// Stream, if not nil, gets the bytes in order as they arrive, and no file is made.
	Stream io.Writer
	// Target, if not nil, takes the file, and none is made on disk: Dir, Name and what is said of a file there count
	// for nothing. There is no Stream then.
	Target Target
	// Store, if not nil, takes the file under its name; Dir counts for nothing. There is no Stream or Target then.
	Store Store
	// Claims are digests that the user vouches for, or a document or a list that the user named. One without a Channel
	// is the user's.
	Claims []verify.Claim
	// Anchors are who may sign the file, and Signatures what the user or a document names beside those that the server
	// describes.
	Anchors    Anchors
	Signatures []Signature
	// LessProof takes a file whose URL offers less to verify it with than it did before (Client.State).
	LessProof bool
	// Described, if not nil, is what a Metalink document says of the file; see Document.Request.
	Described *Described
	// Require is what must be proven.
	Require Require
	// Overwrite replaces a file of that name once the new one is verified.
	Overwrite bool
	// Rename gives the file the next name that is free, if there is a file of its name or another download works at it:
	// disk.1.iso for disk.iso. Overwrite beats it.
	Rename bool
	// Due says that something is to be done with the file once it is in place: until that is told to its journal
	// (partfile.Committed), a later Get that finds the file complete says so in its Result.
	Due bool
	// Continue goes on with what an earlier run has left of a file for which the server gives neither a digest nor a
	// strong validator, if the same server has it in the same size and of the same date, and samples of it come again
	// equal. A file of that name that is not longer is gone on with in the same way. It is the user's word that this is
	// enough, and counts for nothing if Require demands more.
	Continue bool
	// Refresh goes on with the part file of Name, from whatever URL it is, as a new link for it came: by itself if URL
	// offers a strong digest that is known of it, or if the same host gives the same size and strong ETag, or else,
	// with Continue, if size and samples are the same. It is an error if there is none, or nothing shows that it is of
	// this file: then the part file stays as it is.
	Refresh bool
	// NoMetalink ignores Link fields: the origin and Mirrors are all there is. A Metalink document that comes in place of
	// the file is then the file.
	NoMetalink bool
	// Locations are countries whose mirrors come first: two capital letters each (ISO 3166-1). Servers and documents say where
	// mirrors are.
	Locations []string
	// Country, if not nil, says in which country the server of a URL is, "" if it does not know; see Locations. It is
	// asked for mirrors of which neither the server nor a document says that, by several goroutines at once, and has a
	// second for all of them.
	Country func(ctx context.Context, u *url.URL) string
	// Not are hosts that are never connected to for this file. Mirrors there are left out; to name one as URL or in
	// Mirrors is an error.
	Not *address.Exclusion
	// NoFTP leaves FTP servers out.
	NoFTP bool
	// Peers says when BitTorrent peers are asked for the file. The zero value asks none.
	Peers Peers
	// SeedRatio and SeedTime keep giving the file to peers after it has got its name, until they got so many times its size or
	// for so long, whatever comes first; if both are zero, not at all.
	SeedRatio float64
	SeedTime  time.Duration
	// Lowest, if not nil, is asked for the least speed of this download now, in place of that of the client.
	Lowest func() int64
	// Select are patterns for the file that is meant, should a Metalink document of several files come in its place.
	Select []string
	// Header is added to requests to the origin. Other servers get Accept, Accept-Charset, Accept-Language and User-Agent of it,
	// and all of it if they are in HeaderTo, see httpsource.Options.
	Header   map[string][]string
	HeaderTo []string
	// NoReferer does not tell mirrors the original URL.
	NoReferer bool
	// User is the name and password for the origin.
	User *url.Userinfo
	// IfNewer replaces a file of that name if the server has another one, but with an older one only if AllowOlder; see
	// Result.NotModified. What is known of the file (Known, else what Client.State has) makes the request conditional.
	// The file that stays must be proven as Require demands, too.
	IfNewer, AllowOlder bool
	// Known, if not nil, is the version that the caller has, and makes the request conditional by its ETag and date;
	// see Result.NotModified. With IfNewer the answer of another host than Known.Host says nothing of it; if that is
	// empty, each counts. With IfNewer and Known.Digest the file that is there counts only if it has it, and Known.Over
	// says that it was proven.
	Known      *state.Version
	NoVersions bool // Client.State is neither asked for the version that is there nor told it: the caller keeps versions
	// RemoteTime gives the file the date that the server says (Last-Modified).
	RemoteTime bool
	// Limit holds this download to a number of bytes a second, in place of Client.Limit. If nil, that one counts.
	Limit *Limiter
	// MaxSize limits the size of the file where it is less than Client.MaxSize. If zero, that one counts.
	MaxSize int64
	// Observe, if not nil, is told what happens, from one goroutine; it must not block.
	Observe func(Event)
	// Detail makes Observe hear of Brought, too.
	Detail bool

	unreadable []string  // lines of a list that cannot be read
	base       *baseFile // what is there of the file that is to be replaced; see Client.Repair
}

// own is r as it is carried out: claims without a channel count as the word of the caller.
func (r Request) own() Request {
	unsaid := func(c verify.Claim) bool { return c.Channel == 0 }
	if slices.ContainsFunc(r.Claims, unsaid) {
		r.Claims = slices.Clone(r.Claims)
		for i := range r.Claims {
			r.Claims[i].Channel = cmp.Or(r.Claims[i].Channel, verify.User)
		}
	}
	return r
}

func (r *Request) observe(ev Event) {
	if r.Observe != nil {
		r.Observe(ev)
	}
}

func (r *Request) note(format string, args ...any) {
	r.observe(Note{Text: fmt.Sprintf(format, args...)})
}

var errNoURL = errors.New("the request has no URL")

// Path is where the file will be. It is empty for a Stream or a Target. The error says why the URL gives no name.
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

// checkURL refuses URLs that make no sense. Where a document vouches, the first place is one of several, and bad ones are left
// out when their turn comes (rule 39).
func (r *Request) checkURL() error {
	switch u := r.URL; {
	case u == nil:
		return r.fail(Usage, errNoURL, "")
	case r.Refresh && !r.onDisk():
		return r.fail(Usage, errors.New("without a name there is no part file that could be gone on with"), HintNameIt)
	case (r.Stream != nil || r.Store != nil) && r.Target != nil, r.Stream != nil && r.Store != nil:
		return r.fail(Usage, errors.New("a request has a Stream, a Target or a Store, not two of them"), "")
	case slices.Contains(r.Mirrors, nil):
		return r.fail(Usage, errors.New("one of its mirrors is no URL"), "")
	case r.isSwarm(u):
		return nil
	case source.IsSwarm(u):
		return r.fail(Usage, errors.New(r.Peers.why()), "")
	case !address.HasScheme(u) || u.Host == "":
		return r.fail(Usage, errors.New("not an "+address.ListSchemes()+" URL"), "")
	case r.checkExcluded() != nil:
		return r.fail(Usage, r.checkExcluded(), "")
	case !r.usable(u):
		return r.fail(Usage, errors.New("FTP is off"), HintFTP)
	case r.described():
		return nil
	case CheckURL(u) != nil: // rule 58
		return r.fail(Usage, CheckURL(u), "")
	case address.SchemeOf(u).NoDocuments && IsDocument(u.Path) && !r.NoMetalink && r.Described == nil:
		return r.fail(Usage, errWebOnly, HintPlain)
	}
	return nil
}

// fail is an error of the download.
func (r *Request) fail(k Kind, err error, hint Hint) *Error {
	where := ""
	if r.URL != nil {
		where = source.Mask(r.URL)
	}
	return &Error{Kind: k, What: "download", Where: where, Err: err, Hint: hint}
}

// A Result describes a download that succeeded. LastModified of a described file is the oldest date that a place gives.
type Result struct {
	Path            string // "" for a Stream or a Target
	Size            int64  // bytes
	Proof           verify.Proof
	Unvalidated     []string // signatures that are there and that no anchor allows to check
	ETag            string
	LastModified    time.Time
	Host            string   // host:port that gave them
	Folders         []string // of a document's name that were missing and were made, the deepest first; of a failed download, they may be empty
	Continued       bool     // it was gone on with by the user's word alone; see Request.Continue
	AlreadyComplete bool     // the right file was there; nothing was transferred
	NotModified     bool     // the server has nothing newer; nothing was transferred
	Due             bool     // what Request.Due stands for is to be done: the file came, or it did in a run that was stopped before
	Older           bool     // it has an older file, which is not taken; NotModified is true as well
	Resumed         int64    // bytes that an earlier run had left
	Fetched         int64    // bytes of the body that arrived in this run
	Duplicate       int64    // bytes of Fetched that had arrived already
	Compared        int64    // bytes that arrived a second time beside these, to be compared
	Sources         []SourceResult
	Elapsed         time.Duration
}

// A SourceResult says what one source did.
type SourceResult struct {
	ID     int
	URL    string  // masked
	Host   string  // host:port that answered
	Bytes  int64   // that it brought
	Rate   float64 // bytes a second while it was working
	Err    error   // its last failure
	Banned bool    // dropped for wrong content
}

// An Event is one thing that happened in a download. In the order of a download without trouble it is a [Started],
// [Resumed], [Offered], [SourceUp], [RangeStarted], [RangeAnswered], [Progress], [Brought], [RangeCut], [RangeEnded],
// [Complete], [Verified] or [Seeding]; beside these there are [SourceDown], [Voided], [Comparing], [Restarted] and
// [Note]. There may be more of them one day: a switch needs no default, but must not take all others for one kind.
type Event interface{ event() }

type (
	// Started: the download of URL (masked) begins.
	Started struct{ URL, Path string }
	// Resumed: Bytes of an earlier run were found and are right; Have says which.
	Resumed struct {
		Bytes int64
		Have  byterange.Set
	}
	// Offered: what the server said about the file or, if By names it, a document.
	Offered struct {
		File metalink.File
		By   string
	}
	// SourceUp: a source answered for the first time.
	SourceUp struct {
		ID        int
		URL, Host string
		RTT       time.Duration
		Whole     bool // asked for a range, it sends the whole file, which may be of no use beside others
	}
	// SourceDown: a source failed. It may be tried again after Back; Gone says never, Banned that its content was wrong.
	// Active sources are at work without it.
	SourceDown struct {
		ID           int
		URL, Host    string
		Err          error
		Gone, Banned bool
		Back         time.Duration
		Active       int
	}
	// RangeStarted: a range was asked of a source, as the fetch of that number: they are counted from 1 in each Get.
	// Each gets exactly one RangeEnded.
	RangeStarted struct {
		ID    int
		URL   string // masked
		Host  string
		Range byterange.Range
		Fetch int
		Why   scheduler.Reason
	}
	// RangeAnswered: the header of the answer is here and fits. RTT is the round trip to Host, 0 if unknown.
	RangeAnswered struct {
		Fetch, ID int
		Host      string
		RTT       time.Duration
	}
	// RangeCut: a fetch will end at End, earlier than it was asked to: a part of its range is for others. If Ended, it
	// ends at once, and End is how far it has come.
	RangeCut struct {
		Fetch, ID int
		Host      string
		End       int64
		Ended     bool
		Why       scheduler.Reason
	}
	// RangeEnded: nothing more will come of a fetch, which brought Bytes in Took. Err is nil if that is no fault of the source.
	RangeEnded struct {
		Fetch, ID int
		Host      string
		Bytes     int64
		Took      time.Duration
		Err       error
	}
	// Brought: what came since the last of these, at most some ten times a second and at the end of a fetch; only if
	// Request.Detail asks for it. What a fetch brought in one piece is one Piece.
	Brought struct{ Pieces []Piece }
	// Progress is sent a few times a second. Size is -1 while unknown; Rate is bytes a second.
	Progress struct {
		Done, Size int64
		Rate       float64
		Active     int   // sources at work
		Twice      int64 // bytes that came and were here already
	}
	// Voided: bytes of Range that came turned out wrong, and are missing again.
	Voided struct{ Range byterange.Range }
	// Comparing: the file came and is wrong somewhere. It is compared with what other sources have; Done bytes were so far, of a
	// file of Size.
	Comparing struct{ Done, Size int64 }
	// Restarted: what was there is of no use and the download begins again.
	Restarted struct{ Reason string }
	// Complete: every byte is here; what is left is to check the rest of them.
	Complete struct{ Size int64 }
	// Verified: the whole file was checked.
	Verified struct{ Proof verify.Proof }
	// Seeding: the file is in place, and peers can have it. Given is how many bytes they got so far.
	Seeding struct {
		Path  string
		Peers int
		Given int64
		Addrs []netip.AddrPort // where peers may connect to us
	}
	// Note: something that a user who asks for details wants to know.
	Note struct {
		Text  string
		Plain bool // it is about what the user asked for, and is shown also without details
	}
)

// A Piece is a range that a fetch brought.
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

// An Allocation says when a file gets its room on disk.
type Allocation uint8

const (
	// AllocateNone lets it grow as bytes come; there may be holes until all are here.
	AllocateNone Allocation = iota
	// AllocateTry takes the room at the start where the file system can do that, without writing anything.
	AllocateTry
	// AllocateMust does so, too, and does not begin where the file system cannot.
	AllocateMust
)

var errNoAllocation = errors.New("the file system cannot take the room for a file beforehand")
