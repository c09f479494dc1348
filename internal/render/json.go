package render

import "time"

// jsonVersion is the version of the lines of --json. Later versions of braid may add fields, but may not change or remove any.
const jsonVersion = 1

// Head has the first fields of each line of --json.
type Head struct {
	V     int       `json:"v"`
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
	// File is the number of the file: operands come first, then the list. The first number is 1. For a single file it is 0.
	File int `json:"file,omitempty"`
}

func NewHead(at time.Time, event string) Head {
	return Head{V: jsonVersion, Time: at.UTC().Truncate(time.Microsecond), Event: event}
}

// startEvent: a download has begun.
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

// mirrorEvent: a mirror's state has changed to "up", "down" (not used any more) or "banned" (for wrong content).
type mirrorEvent struct {
	Head
	State string  `json:"state"`
	ID    int     `json:"id"`
	URL   string  `json:"url"`
	Host  string  `json:"host,omitempty"`
	RTT   float64 `json:"rtt,omitempty"`   // seconds
	Whole bool    `json:"whole,omitempty"` // the mirror sends the whole file instead of a range
	Why   string  `json:"why,omitempty"`
}

// rangeEvent: bytes are requested from a source, from start up to but not including end. Without end, all bytes from
// start on are requested. Each such fetch has a number; the first is 1. Why: "first", "next", "growth", "remembered",
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

// rangeAnswerEvent: a source has answered a fetch, and the header of the response matches the request.
type rangeAnswerEvent struct {
	Head
	ID    int    `json:"id"`
	Host  string `json:"host,omitempty"`
	Fetch int    `json:"fetch"`
}

// rangeCutEvent: a fetch now ends at an earlier end. If ended is true, it ends immediately. Why: "split" (another
// source fetches the rest), "met", "silent", "slow", "useless", "crowded", "same host", "no ranges", "lied", "done".
type rangeCutEvent struct {
	Head
	ID    int    `json:"id"`
	Host  string `json:"host,omitempty"`
	Fetch int    `json:"fetch"`
	End   int64  `json:"end"`
	Ended bool   `json:"ended,omitempty"`
	Why   string `json:"why"`
}

// rangeEndEvent: a fetch has ended. If it failed, why states the reason.
type rangeEndEvent struct {
	Head
	ID    int     `json:"id"`
	Host  string  `json:"host,omitempty"`
	Fetch int     `json:"fetch"`
	Bytes int64   `json:"bytes"`
	Took  float64 `json:"took"` // seconds
	Why   string  `json:"why,omitempty"`
}

// completeEvent: all bytes have arrived. The file is not verified yet.
type completeEvent struct {
	Head
	Size int64 `json:"size"`
}

// progressEvent: how much has arrived. It is repeated while bytes arrive.
type progressEvent struct {
	Head
	Done    int64   `json:"done"`
	Size    *int64  `json:"size,omitempty"`
	Rate    float64 `json:"rate"` // bytes a second
	Mirrors int     `json:"mirrors"`
}

// compareEvent: all bytes have arrived, but some are wrong. They are being compared with the bytes of other sources.
// done is the number of bytes that were compared.
type compareEvent struct {
	Head
	Done int64 `json:"done"`
	Size int64 `json:"size"`
}

// retryEvent: a source will be tried again after wait. If no source is named, that is true of the whole file.
type retryEvent struct {
	Head
	ID   *int    `json:"id,omitempty"`
	URL  string  `json:"url,omitempty"`
	Host string  `json:"host,omitempty"`
	Wait float64 `json:"wait,omitempty"` // seconds
	Why  string  `json:"why"`
}

// Proven describes what proved a file.
type Proven struct {
	Verified   bool              `json:"verified"`
	Checked    bool              `json:"checked,omitempty"` // verified only by the pieces of a torrent, which have SHA-1 digests
	Digests    map[string]string `json:"digests"`
	Evidence   []string          `json:"evidence"`
	Signed     bool              `json:"signed,omitempty"`
	Signatures []signatureLine   `json:"signatures,omitempty"`
}

// signatureLine is a valid signature by a key that the user trusts.
type signatureLine struct {
	Kind   string     `json:"kind"` // OpenPGP, S/MIME, minisign, signify, SSH
	From   string     `json:"from"`
	Key    string     `json:"key"` // fingerprint
	Signer string     `json:"signer,omitempty"`
	Pinned bool       `json:"pinned,omitempty"`
	Time   *time.Time `json:"time,omitempty"` // when the signature was made, as its signer states
}

// verifyEvent: the file passed all checks that could be made.
type verifyEvent struct {
	Head
	Proven
}

// noteEvent: a message for the user; its text may change.
type noteEvent struct {
	Head
	Text string `json:"text"`
}

// doneEvent: the file is complete and has its final name.
type doneEvent struct {
	Head
	Outcome
}

// An Outcome is the result of a download as shown to users and programs. Its URLs contain no secrets.
type Outcome struct {
	URL  string `json:"url"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	Proven
	Unvalidated     []string     `json:"unvalidated,omitempty"` // signatures without a trusted key
	ETag            string       `json:"etag,omitempty"`
	AlreadyComplete bool         `json:"already_complete"`
	NotModified     bool         `json:"not_modified,omitempty"`  // with -N: the server has no newer file
	Older           bool         `json:"older,omitempty"`         // the server's version of the file is older
	LastModified    *time.Time   `json:"last_modified,omitempty"` // as sent by the server
	Resumed         int64        `json:"resumed"`
	Fetched         int64        `json:"fetched"`
	Duplicate       int64        `json:"duplicate"`
	Compared        int64        `json:"compared,omitempty"` // bytes received again for comparison
	Elapsed         float64      `json:"elapsed"`            // seconds
	Sources         []sourceLine `json:"sources"`
	Looked          []lookedLine `json:"looked,omitempty"` // the places that were searched for a digest
}

// sourceLine describes what one source contributed.
type sourceLine struct {
	URL    string  `json:"url"`
	Host   string  `json:"host"`
	Bytes  int64   `json:"bytes"`
	Rate   float64 `json:"rate"` // bytes per second while requests were in progress
	Banned bool    `json:"banned,omitempty"`
	Why    string  `json:"why,omitempty"` // the source's last failure
}

// hookEvent: the program of --on-complete has ended. exit_code is -1 if the program was killed or could not be run.
type hookEvent struct {
	Head
	Path    string  `json:"path"`
	Code    int     `json:"exit_code"`
	Elapsed float64 `json:"elapsed"` // seconds
	Why     string  `json:"why,omitempty"`
}

// seedEvent: the file is complete and is being uploaded to peers.
type seedEvent struct {
	Head
	Peers int      `json:"peers"`
	Given int64    `json:"given"`
	Addrs []string `json:"addresses,omitempty"`
}

// errorEvent: a download or the command failed. code is the exit code for this error. With a single file, it is also
// the exit code of the command.
type errorEvent struct {
	Head
	Code  int    `json:"code"`
	What  string `json:"what"`
	Where string `json:"where,omitempty"`
	Why   string `json:"why"`
	Kept  string `json:"kept,omitempty"`
	Hint  string `json:"hint,omitempty"`
	URL   string `json:"url,omitempty"`  // URL of the file, unless it is the only one
	Path  string `json:"path,omitempty"` // path of the file, unless it is the only one
}

// BatchEvent is the result of several downloads, printed last.
type BatchEvent struct {
	Head
	Counts
	Elapsed float64 `json:"elapsed"` // seconds
	Code    int     `json:"code"`
	// Results has the outcomes of files, those that ended first at the beginning. More is the number of outcomes not in
	// Results.
	Results []FileOutcome `json:"results"`
	More    int           `json:"more_results,omitempty"`
}

// Counts has the numbers of files of a batch.
type Counts struct {
	Files      int   `json:"files"`
	Complete   int   `json:"complete"`          // complete files, whether from this run or an earlier one
	Verified   int   `json:"verified"`          // complete files that are verified
	Checked    int   `json:"checked,omitempty"` // complete files that are verified only by the pieces of a torrent
	Failed     int   `json:"failed"`            // failed downloads, not counting interrupted ones
	Unfinished int   `json:"unfinished"`        // interrupted downloads
	NotBegun   int   `json:"not_begun"`         // downloads that had not begun before the command was interrupted
	Fetched    int64 `json:"fetched"`           // bytes received
}

// FileOutcome is the outcome of one file in a BatchEvent.
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
