package download

import (
	"io"
	"net/url"
	"time"

	"braid/byterange"
	"braid/metalink"
	"braid/verify"
)

// A Require says what must be proven before a file gets its final name.
type Require uint8

const (
	// RequireNothing accepts a file without evidence; the result then says so.
	RequireNothing Require = iota
	// RequireDigest demands a SHA-256 or better, from the server or the user (rule 30).
	RequireDigest
)

// A Request names one file to download.
type Request struct {
	// URL is the origin: the server whose answer says what the file is.
	URL *url.URL
	// Mirrors are further places of the same file that the user named.
	Mirrors []*url.URL
	// Dir is the folder of the file. If empty, it is the current one.
	Dir string
	// Name is the final name in Dir. If empty, it is the last segment of the path of URL (rule 12).
	Name string
	// Stream, if not nil, gets the bytes in order as they arrive, and no file is made.
	Stream io.Writer
	// Claims are digests that the user vouches for.
	Claims []verify.Claim
	// Require is what must be proven.
	Require Require
	// Overwrite replaces a file of that name once the new one is verified (rule 3).
	Overwrite bool
	// NoMetalink ignores Link fields: the origin and Mirrors are all there is.
	NoMetalink bool
	// Header is added to requests to the origin, and what is no secret also to mirrors (rule 27).
	Header map[string][]string
	// User is the name and password for the origin.
	User *url.Userinfo
	// IfNoneMatch and IfModifiedSince make the request conditional; see Result.NotModified.
	IfNoneMatch     string
	IfModifiedSince time.Time
	// Observe, if not nil, is told what happens, from one goroutine; it must not block.
	Observe func(Event)
}

// A Result describes a download that succeeded.
type Result struct {
	Path            string // "" for a stream
	Size            int64  // bytes
	Proof           verify.Proof
	ETag            string
	LastModified    time.Time
	AlreadyComplete bool  // the right file was there; nothing was transferred
	NotModified     bool  // the server answered 304; nothing was transferred
	Resumed         int64 // bytes that an earlier run had left
	Fetched         int64 // bytes of the body that arrived in this run
	Duplicate       int64 // bytes of Fetched that had arrived already
	Sources         []SourceResult
	Elapsed         time.Duration
}

// A SourceResult says what one source did.
type SourceResult struct {
	ID     int
	URL    string  // masked (rule 62)
	Host   string  // host:port that answered
	Bytes  int64   // that it brought
	Rate   float64 // bytes a second while it was working
	Err    error   // its last failure
	Banned bool    // dropped for wrong content
}

// An Event is one thing that happened in a download.
type Event interface{ event() }

type (
	// Started: the download of URL (masked) begins.
	Started struct{ URL, Path string }
	// Resumed: Bytes of an earlier run were found and are right.
	Resumed struct{ Bytes int64 }
	// Offered: what the server said about the file.
	Offered struct{ File metalink.File }
	// SourceUp: a source answered for the first time.
	SourceUp struct {
		ID        int
		URL, Host string
		RTT       time.Duration
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
	// RangeStarted: a range was asked of a source.
	RangeStarted struct {
		ID    int
		Host  string
		Range byterange.Range
	}
	// Progress is sent a few times a second. Size is -1 while unknown; Rate is bytes a second.
	Progress struct {
		Done, Size int64
		Rate       float64
		Active     int // sources at work
	}
	// Restarted: what was there is of no use and the download begins again.
	Restarted struct{ Reason string }
	// Verified: the whole file was checked.
	Verified struct{ Proof verify.Proof }
	// Note: something that a user who asks for details wants to know.
	Note struct{ Text string }
)

func (Started) event()      {}
func (Resumed) event()      {}
func (Offered) event()      {}
func (SourceUp) event()     {}
func (SourceDown) event()   {}
func (RangeStarted) event() {}
func (Progress) event()     {}
func (Restarted) event()    {}
func (Verified) event()     {}
func (Note) event()         {}
