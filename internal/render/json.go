package render

import "time"

// jsonVersion is the form of the lines of --json. Fields are added to it, never changed or taken away.
const jsonVersion = 1

// Head is what every line begins with.
type Head struct {
	V     int       `json:"v"`
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
	// File is which one of several it is about, in the order of operands and list from 1.
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
	Whole bool    `json:"whole,omitempty"` // it sends the whole file for a range
	Why   string  `json:"why,omitempty"`
}

// rangeEvent: bytes from start to end, which is not among them, are asked for; without an end it is all there
// is. Fetches are numbered from 1. Why: "first", "next", "growth", "remembered", "return",
// "exchange", "split".
type rangeEvent struct {
	Head
	ID    int    `json:"id"`
	Host  string `json:"host,omitempty"`
	Start int64  `json:"start"`
	End   *int64 `json:"end,omitempty"`
	Fetch int    `json:"fetch"`
	Why   string `json:"why"`
}

// rangeAnswerEvent: the header of the answer to a fetch is here and fits.
type rangeAnswerEvent struct {
	Head
	ID    int    `json:"id"`
	Host  string `json:"host,omitempty"`
	Fetch int    `json:"fetch"`
}

// rangeCutEvent: a fetch ends earlier than it was asked to, at end; at once if ended is true. Why: "split"
// (another source does the rest sooner), "met", "silent", "slow", "useless", "crowded", "same host", "no
// ranges", "lied", "done".
type rangeCutEvent struct {
	Head
	ID    int    `json:"id"`
	Host  string `json:"host,omitempty"`
	Fetch int    `json:"fetch"`
	End   int64  `json:"end"`
	Ended bool   `json:"ended,omitempty"`
	Why   string `json:"why"`
}

// rangeEndEvent: nothing more comes of a fetch. There is a why only if it failed.
type rangeEndEvent struct {
	Head
	ID    int     `json:"id"`
	Host  string  `json:"host,omitempty"`
	Fetch int     `json:"fetch"`
	Bytes int64   `json:"bytes"`
	Took  float64 `json:"took"` // seconds
	Why   string  `json:"why,omitempty"`
}

// completeEvent: all bytes are here; the last are not checked yet.
type completeEvent struct {
	Head
	Size int64 `json:"size"`
}

// progressEvent: how far it is, while bytes come.
type progressEvent struct {
	Head
	Done    int64   `json:"done"`
	Size    *int64  `json:"size,omitempty"`
	Rate    float64 `json:"rate"` // bytes a second
	Mirrors int     `json:"mirrors"`
}

// compareEvent: the file came and is wrong somewhere. It is compared with what other sources have; done bytes
// were so far.
type compareEvent struct {
	Head
	Done int64 `json:"done"`
	Size int64 `json:"size"`
}

// retryEvent: a source is tried again later, or the whole file when there is no source in it.
type retryEvent struct {
	Head
	ID   *int    `json:"id,omitempty"`
	URL  string  `json:"url,omitempty"`
	Host string  `json:"host,omitempty"`
	Wait float64 `json:"wait,omitempty"` // seconds
	Why  string  `json:"why"`
}

// Proven is what is proven of a file.
type Proven struct {
	Verified   bool              `json:"verified"`
	Checked    bool              `json:"checked,omitempty"` // by the pieces of a torrent, which are of SHA-1
	Digests    map[string]string `json:"digests"`
	Evidence   []string          `json:"evidence"`
	Signed     bool              `json:"signed,omitempty"`
	Signatures []signatureLine   `json:"signatures,omitempty"`
}

// signatureLine is a good signature by a signer whom the user trusts.
type signatureLine struct {
	Kind   string `json:"kind"` // OpenPGP, S/MIME, minisign, signify, SSH
	From   string `json:"from"`
	Key    string `json:"key"` // fingerprint
	Signer string `json:"signer,omitempty"`
	Pinned bool   `json:"pinned,omitempty"`
}

// verifyEvent: the file passed the checks that were possible.
type verifyEvent struct {
	Head
	Proven
}

// noteEvent: a message for people; its text may change.
type noteEvent struct {
	Head
	Text string `json:"text"`
}

// doneEvent: the file is in place.
type doneEvent struct {
	Head
	Outcome
}

// An Outcome is the result of a download, as it is told to people and programs. Secrets in its URLs are masked.
type Outcome struct {
	URL  string `json:"url"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	Proven
	Unvalidated     []string     `json:"unvalidated,omitempty"` // signatures without an anchor
	ETag            string       `json:"etag,omitempty"`
	AlreadyComplete bool         `json:"already_complete"`
	NotModified     bool         `json:"not_modified,omitempty"`  // with -N: there is nothing newer
	Older           bool         `json:"older,omitempty"`         // the server has an older one
	LastModified    *time.Time   `json:"last_modified,omitempty"` // as the server says
	Resumed         int64        `json:"resumed"`
	Fetched         int64        `json:"fetched"`
	Duplicate       int64        `json:"duplicate"`
	Compared        int64        `json:"compared,omitempty"` // bytes that came again to be compared
	Elapsed         float64      `json:"elapsed"`            // seconds
	Sources         []sourceLine `json:"sources"`
	Looked          []lookedLine `json:"looked,omitempty"` // where a digest was looked for
}

// sourceLine is what one source brought.
type sourceLine struct {
	URL    string  `json:"url"`
	Host   string  `json:"host"`
	Bytes  int64   `json:"bytes"`
	Rate   float64 `json:"rate"` // bytes a second while it was working
	Banned bool    `json:"banned,omitempty"`
	Why    string  `json:"why,omitempty"` // its last failure
}

// hookEvent: the program of --on-complete ended; -1 is for one that could not be run or was killed.
type hookEvent struct {
	Head
	Path    string  `json:"path"`
	Code    int     `json:"exit_code"`
	Elapsed float64 `json:"elapsed"` // seconds
	Why     string  `json:"why,omitempty"`
}

// seedEvent: the file is in place, and peers can have it.
type seedEvent struct {
	Head
	Peers int      `json:"peers"`
	Given int64    `json:"given"`
	Addrs []string `json:"addresses,omitempty"`
}

// errorEvent: the download, or the command, failed. The code is the exit code for this error. With one file, the
// command has the same.
type errorEvent struct {
	Head
	Code  int    `json:"code"`
	What  string `json:"what"`
	Where string `json:"where,omitempty"`
	Why   string `json:"why"`
	Kept  string `json:"kept,omitempty"`
	Hint  string `json:"hint,omitempty"`
	URL   string `json:"url,omitempty"`  // of the file, where there are several
	Path  string `json:"path,omitempty"` // of the file, where there are several
}

// BatchEvent is the last one of several downloads: what became of them.
type BatchEvent struct {
	Head
	Counts
	Elapsed float64 `json:"elapsed"` // seconds
	Code    int     `json:"code"`
	// Results are what became of the files that ended, in that order; of the others More is the number.
	Results []FileOutcome `json:"results"`
	More    int           `json:"more_results,omitempty"`
}

// Counts are the numbers of a batch.
type Counts struct {
	Files      int   `json:"files"`
	Complete   int   `json:"complete"`          // in place, whenever they came
	Verified   int   `json:"verified"`          // of these
	Checked    int   `json:"checked,omitempty"` // of these, by the pieces of a torrent only
	Failed     int   `json:"failed"`            // without those that were interrupted
	Unfinished int   `json:"unfinished"`        // interrupted
	NotBegun   int   `json:"not_begun"`         // as the command was interrupted before
	Fetched    int64 `json:"fetched"`           // bytes
}

// FileOutcome is one of the results in the last event of a batch.
type FileOutcome struct {
	File     int    `json:"file"`
	State    string `json:"state"` // "done", "there" before, "left" as it is, "failed", "unfinished"
	URL      string `json:"url"`
	Path     string `json:"path"`
	Size     int64  `json:"size,omitempty"`
	Verified bool   `json:"verified,omitempty"`
	Code     int    `json:"code,omitempty"`
	Why      string `json:"why,omitempty"`
}
