package download

import (
	"net/url"
	"time"

	"braid/download/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A subject is what a session knows of the file, and whose word that is.
type subject struct {
	known          bool // an answer said what the file is, of this run or an earlier one
	originAnswered bool // the origin answered, in this run
	assumed        bool // a mirror answered before it, and the user's digest says what the file is
	size           int64
	sizeBy         *origin // whose answer said it first; nil: it is from elsewhere
	claims         []verify.Claim
	late           []verify.Claim // of algorithms that are hashed anyway, and known to be claimed at the end only
	tag            tag            // of the origin, or of the server to which it led
	date           time.Time      // Last-Modified that came with it
	lead           *source.Answer // the first one that was admitted; nil: none was
	leader         *origin        // that gave it
	file           metalink.File
}

// strong reports whether a strong digest is known.
func (x *subject) strong() bool { return verify.Strong(x.claims) }

// resume takes over what an earlier run knew of the file, beside what the user says of it. Mirrors are taken with links only.
func (x *subject) resume(prior partfile.Identity, claims []verify.Claim, links bool) {
	x.known, x.size, x.tag, x.date = true, prior.Size, tag{prior.ETag, prior.ETagHost}, prior.LastModified
	x.claims = join(claims, earlier(prior.Claims, claims))
	if !links {
		return
	}
	for _, m := range prior.Mirrors {
		if u, err := url.Parse(m.URL); err == nil && u.RawQuery == "" && u.User == nil { // else it was masked
			x.file.Mirrors = append(x.file.Mirrors, metalink.Mirror{URL: u, Pri: m.Pri, Pref: m.Pref, Geo: m.Geo, By: m.By})
		}
	}
}

// sameDate compares the date of an answer that has the same strong ETag: one that stays while Last-Modified moves does not change with
// the content. Where no digest says otherwise that is another version.
func (x *subject) sameDate(date time.Time) (outcome, error) {
	if x.strong() || date.IsZero() || x.date.IsZero() || date.Equal(x.date) {
		return ongoing, nil
	}
	return fileChanged, changed("the same ETag, and another Last-Modified")
}

// mayEnd reports whether what is here may be the whole file, which its digest would show.
func (x *subject) mayEnd(part *partfile.File) bool {
	have := part.Have()
	return x.size < 0 && have.Len() > 0 && have.Len() == part.Front() && x.strong()
}

// An aside is what a session asks beside the file: documents, torrents, signatures. Each question is a goroutine whose answer comes by
// a channel that has room for it.
type aside struct {
	documents          chan documentResult // what a document says
	offered            chan offer          // a torrent whose peers may be asked
	asking             bool                // a document is being fetched
	reading            bool                // and it may have signatures, or name them
	fetchingSignatures bool                // signatures are being fetched
}

func newAside() aside {
	return aside{documents: make(chan documentResult, 1), offered: make(chan offer, 1)}
}

// begin takes note that a document is asked, which may have signatures or not.
func (x *aside) begin(signed bool) { x.asking, x.reading = true, signed }

// read takes note that a document was read, or could not be.
func (x *aside) read() { x.asking, x.reading = false, false }

// awaits reports whether signatures may still come.
func (x *aside) awaits() bool { return x.fetchingSignatures || x.reading }
