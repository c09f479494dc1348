package render

import "time"

// jsonVersion is the version of the lines of --json. Later programs may add fields, but not change or remove them.
const jsonVersion = 1

// Head has the first fields of each line.
type Head struct {
	V     int       `json:"v"`
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
	// File is the number of the file, counted from 1: operands first, then the list. It is 0 for a single file.
	File int `json:"file,omitempty"`
}

func NewHead(at time.Time, event string) Head {
	return Head{V: jsonVersion, Time: at.UTC().Truncate(time.Microsecond), Event: event}
}

// startEvent: a download begins.
type startEvent struct {
	Head
	URL  string `json:"url"`
	Path string `json:"path"`
}

// resumeEvent: bytes of an earlier run are used.
type resumeEvent struct {
	Head
	Bytes int64 `json:"bytes"`
}

// mirrorEvent: state is "up", "down" (for good) or "banned" (for wrong content).
type mirrorEvent struct {
	Head
	State string  `json:"state"`
	ID    int     `json:"id"`
	URL   string  `json:"url"`
	Host  string  `json:"host,omitempty"`
	RTT   float64 `json:"rtt,omitempty"`   // seconds
	Whole bool    `json:"whole,omitempty"` // the source sends the whole file for a range
	Why   string  `json:"why,omitempty"`
}

// rangeEvent: the bytes from start to end are requested from a source. The byte at end is not included; without end,
// all bytes from start on are requested. Fetches are numbered from 1. Why: "first", "next", "growth", "remembered",
// "return", "exchange", "split".
type rangeEvent struct {
	Head
	ID    int    `json:"id"`
	Host  string `json:"host,omitempty"`
	Start int64  `json:"start"`
	End   *int64 `json:"end,omitempty"`
	Fetch int    `json:"fetch"`
	Why   string `json:"why"`
}

// rangeAnswerEvent: the header of the answer to a fetch arrived and matches the request.
type rangeAnswerEvent struct {
	Head
	ID    int    `json:"id"`
	Host  string `json:"host,omitempty"`
	Fetch int    `json:"fetch"`
}

// rangeCutEvent: a fetch will end before the end of its range, at the new end. If ended is true, it ends at once. Why:
// "split" (another source fetches the rest), "met", "silent", "slow", "useless", "crowded", "same host", "no ranges",
// "lied", "done".
type rangeCutEvent struct {
	Head
	ID    int    `json:"id"`
	Host  string `json:"host,omitempty"`
	Fetch int    `json:"fetch"`
	End   int64  `json:"end"`
	Ended bool   `json:"ended,omitempty"`
	Why   string `json:"why"`
}

// rangeEndEvent: a fetch has ended. If it failed, why has the reason.
type rangeEndEvent struct {
	Head
	ID    int     `json:"id"`
	Host  string  `json:"host,omitempty"`
	Fetch int     `json:"fetch"`
	Bytes int64   `json:"bytes"`
	Took  float64 `json:"took"` // seconds
	Why   string  `json:"why,omitempty"`
}

// completeEvent: all bytes have arrived. The check of the file is not finished yet.
type completeEvent struct {
	Head
	Size int64 `json:"size"`
}

// progressEvent: the progress, while bytes arrive.
type progressEvent struct {
	Head
	Done    int64   `json:"done"`
	Size    *int64  `json:"size,omitempty"`
	Rate    float64 `json:"rate"` // bytes a second
	Mirrors int     `json:"mirrors"`
}

// compareEvent: all bytes have arrived, but some are wrong. They are compared with the bytes of other sources; done is
// the number of bytes compared so far.
type compareEvent struct {
	Head
	Done int64 `json:"done"`
	Size int64 `json:"size"`
}

// retryEvent: a source will be tried again after wait. Without a source, the whole file is tried again.
type retryEvent struct {
	Head
	ID   *int    `json:"id,omitempty"`
	URL  string  `json:"url,omitempty"`
	Host string  `json:"host,omitempty"`
	Wait float64 `json:"wait,omitempty"` // seconds
	Why  string  `json:"why"`
}

// Proven has the proof of a file.
type Proven struct {
	Verified   bool              `json:"verified"`
	Checked    bool              `json:"checked,omitempty"` // by the pieces of a torrent, which have SHA-1 digests
	Digests    map[string]string `json:"digests"`
	Evidence   []string          `json:"evidence"`
	Signed     bool              `json:"signed,omitempty"`
	Signatures []signatureLine   `json:"signatures,omitempty"`
}

// signatureLine is a valid signature of a signer that the user trusts.
type signatureLine struct {
	Kind   string `json:"kind"` // OpenPGP, S/MIME, minisign, signify, SSH
	From   string `json:"from"`
	Key    string `json:"key"` // fingerprint
	Signer string `json:"signer,omitempty"`
	Pinned bool   `json:"pinned,omitempty"`
}

// verifyEvent: the file passed all checks that were possible.
type verifyEvent struct {
	Head
	Proven
}

// noteEvent: a message for the user; its text may change.
type noteEvent struct {
	Head
	Text string `json:"text"`
}

// doneEvent: the file is in place.
type doneEvent struct {
	Head
	Outcome
}

// An Outcome is the result of a download, as shown to users and programs. Secrets in its URLs are masked.
type Outcome struct {
	URL  string `json:"url"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	Proven
	Unvalidated     []string     `json:"unvalidated,omitempty"` // signatures that no trusted key can check
	ETag            string       `json:"etag,omitempty"`
	AlreadyComplete bool         `json:"already_complete"`
	NotModified     bool         `json:"not_modified,omitempty"`  // with -N: the server has no newer file
	Older           bool         `json:"older,omitempty"`         // the server's file is older
	LastModified    *time.Time   `json:"last_modified,omitempty"` // as sent by the server
	Resumed         int64        `json:"resumed"`
	Fetched         int64        `json:"fetched"`
	Duplicate       int64        `json:"duplicate"`
	Compared        int64        `json:"compared,omitempty"` // bytes received again for comparison
	Elapsed         float64      `json:"elapsed"`            // seconds
	Sources         []sourceLine `json:"sources"`
	Looked          []lookedLine `json:"looked,omitempty"` // the places that were searched for a digest
}

// sourceLine has the contribution of one source.
type sourceLine struct {
	URL    string  `json:"url"`
	Host   string  `json:"host"`
	Bytes  int64   `json:"bytes"`
	Rate   float64 `json:"rate"` // bytes a second while it was working
	Banned bool    `json:"banned,omitempty"`
	Why    string  `json:"why,omitempty"` // last failure of the source
}

// hookEvent: the program of --on-complete has ended. The exit code is -1 if the program could not be run or was killed.
type hookEvent struct {
	Head
	Path    string  `json:"path"`
	Code    int     `json:"exit_code"`
	Elapsed float64 `json:"elapsed"` // seconds
	Why     string  `json:"why,omitempty"`
}

// seedEvent: the file is in place and is offered to peers.
type seedEvent struct {
	Head
	Peers int      `json:"peers"`
	Given int64    `json:"given"`
	Addrs []string `json:"addresses,omitempty"`
}

// errorEvent: a download or the command failed. The code is the exit code for this error, and with one file also that
// of the command.
type errorEvent struct {
	Head
	Code  int    `json:"code"`
	What  string `json:"what"`
	Where string `json:"where,omitempty"`
	Why   string `json:"why"`
	Kept  string `json:"kept,omitempty"`
	Hint  string `json:"hint,omitempty"`
	URL   string `json:"url,omitempty"`  // URL of the file, if there are several files
	Path  string `json:"path,omitempty"` // path of the file, if there are several files
}

// BatchEvent is the result of several downloads. It is the last line.
type BatchEvent struct {
	Head
	Counts
	Elapsed float64 `json:"elapsed"` // seconds
	Code    int     `json:"code"`
	// Results has the outcomes of files in the order in which they ended. More is the number of further outcomes.
	Results []FileOutcome `json:"results"`
	More    int           `json:"more_results,omitempty"`
}

// Counts has the numbers of files of a batch.
type Counts struct {
	Files      int   `json:"files"`
	Complete   int   `json:"complete"`          // files in place, from this run or an earlier one
	Verified   int   `json:"verified"`          // complete files that are verified
	Checked    int   `json:"checked,omitempty"` // complete files that are only checked by the pieces of a torrent
	Failed     int   `json:"failed"`            // failed downloads, except interrupted ones
	Unfinished int   `json:"unfinished"`        // interrupted downloads
	NotBegun   int   `json:"not_begun"`         // downloads that had not begun when the command was interrupted
	Fetched    int64 `json:"fetched"`           // bytes
}

// FileOutcome is one of the results in the last event of a batch.
type FileOutcome struct {
	File     int    `json:"file"`
	State    string `json:"state"` // "done", "there" (before this run), "left" (the old file was kept), "failed", "unfinished"
	URL      string `json:"url"`
	Path     string `json:"path"`
	Size     int64  `json:"size,omitempty"`
	Verified bool   `json:"verified,omitempty"`
	Code     int    `json:"code,omitempty"`
	Why      string `json:"why,omitempty"`
}
