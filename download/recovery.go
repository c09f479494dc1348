package download

import (
	"slices"

	"braid/internal/partfile"
	"braid/verify"
)

// An outcome is how an attempt to download the file ended.
type outcome uint8

const (
	ongoing      outcome = iota // it has not ended, or it succeeded
	failed                      // another attempt would not help
	wantsHead                   // mirrors are named and no digest, which an answer to HEAD may have
	gotDocument                 // the server answered with a document that describes the file
	sizeDisowned                // a source's size is wrong: it sent a document, or the server states another
	fileChanged                 // the origin has another version of the file
	notMergeable                // nothing shows that the rest would belong to the existing bytes
	partTouched                 // another program wrote to the part file
	otherFile                   // all of the file is here, and what was found beside it is the digest of another one
	wrongDigest                 // all of the file is here, and its digest is not the right one
	wrongSize                   // all that the sources have is here, and it is not as long as the file
	noSource                    // every source failed
)

// outcomeOf returns the outcome of an attempt that ended with err, if nothing else is known of it.
func outcomeOf(err error) outcome {
	switch {
	case is[*partfile.TouchedError](err):
		return partTouched
	case is[*otherFileError](err):
		return otherFile
	case is[*verify.MismatchError](err):
		return wrongDigest
	case is[*verify.SizeError](err):
		return wrongSize
	case is[*NoSourceError](err):
		return noSource
	}
	return failed
}

// A history holds what decides about another attempt: the events of this run, including the last attempt, and
// the request.
type history struct {
	changes  int // how often the file changed during the download
	restarts int // how often the received bytes could not be continued, since a new source was asked
	tries    int // how often that may happen
	touched  int // how often another program wrote to the part file

	single bool // sources are asked one at a time, because the bytes of several were wrong
	pipe   bool // the file goes to a stream
	out    bool // and some of it was written, which cannot be taken back

	byPieces     bool // the pieces that the user named prove the file; each was checked as it came
	listed       bool // a document names places of the file and no strong digest: each place serves alone
	contradicted bool // all pieces of the user's document match, and its digest of the whole file does not
	contested    bool // a digest is known, and no authority above the server gave the size
	digest       bool // an authority stated a strong digest: all places were already sources, and it decides
	mixed        bool // only a digest ties the existing bytes together
	nearby       bool // the bytes of an earlier run are tied only by a digest beside the file
	recalled     bool // the digest that does not match is of an earlier run, and yields
	heads        int  // how often HEAD was sent
	drops        int  // how often a size was given up
}

// mostDrops limits how many sizes are given up for one version of the file.
const mostDrops = 16

// mostHeads limits how often HEAD is sent: a second time if its answer was of another version than that to
// GET.
const mostHeads = 2

func mayAskHead(asked int) bool { return asked < mostHeads }

// A way is a recovery strategy after an attempt that failed. Ways are tried in order until one can be
// applied.
type way uint8

const (
	askHead        way = iota // send HEAD, and continue
	dropSize                  // try the size that another source gives, or do without one
	dropRecalled              // forget the digests of an earlier run that yield
	nextVersion               // forget what is known of the version before
	withoutServer             // go on with the other places: the server refuses what the file has, and announces no other version
	compareSamples            // if the user allows it, go on when size, date and samples are the same (RFC 9110, section 8.8)
	beginAnew                 // ask the same sources for all of the file again
	lookAgain                 // look anew for digests beside the file
	reread                    // read again what is here, and fetch what another program changed
	findWrong                 // find out which bytes are wrong: by pieces, or by what other sources have
	singleSource              // ask the next source for all of the file, alone
	standIn                   // let a mirror that the user named take the server's place
	withoutPieces             // give up pieces that no source has
	askPeers                  // ask the peers of a torrent of the file
	blamePlace                // ban the place that sent wrong bytes
	blameDocument             // end: the document contradicts itself
	keepRefuted               // end, and keep the file in case the digest was mistyped
	discard                   // end, and discard the bytes
)

// fromStart reports whether the next attempt begins at the first byte.
func (w way) fromStart() bool {
	return w == nextVersion || w == beginAnew || w == singleSource
}

// ways returns the ways after an attempt with outcome o, the best one first. A final failure leaves none.
func (h history) ways(o outcome) []way {
	var all []way
	switch o {
	case wantsHead:
		if mayAskHead(h.heads) {
			all = []way{askHead}
		}
	case sizeDisowned:
		all = []way{dropSize}
	case fileChanged: // once: a file that changes all the time is never whole
		if h.changes <= 1 {
			all = []way{nextVersion, withoutServer}
		}
	case notMergeable:
		all = h.afterBreak()
	case otherFile: // nothing is thrown away for a list, except what only that list ties to the file
		if !h.pipe {
			all = []way{lookAgain, reread, findWrong}
		}
		if h.nearby {
			all = append(all, beginAnew)
		}
	case partTouched:
		if !h.pipe && h.touched <= mostTouched {
			all = []way{reread}
		}
	case wrongDigest, wrongSize:
		all = h.afterWrong(o)
	case noSource:
		all = []way{withoutPieces, askPeers}
		if h.contested {
			all = append(all, dropSize)
		}
		if all = append(all, standIn); h.single {
			all = []way{singleSource, discard}
		}
	}
	return slices.DeleteFunc(all, h.closed)
}

// closed reports whether a way cannot be applied. Bytes that went through a pipe are not sent again. If a
// digest is known, the user's mirrors were sources like all others, except those that could not feed a pipe.
func (h history) closed(w way) bool {
	switch w {
	case standIn:
		return h.out || h.digest && !h.pipe && !h.listed
	case withoutServer:
		return h.out
	case findWrong:
		return h.single
	case dropSize:
		return h.out || h.drops >= mostDrops
	case dropRecalled:
		return !h.recalled
	}
	return h.out && w.fromStart()
}

// afterBreak returns the ways after a server broke off and nothing shows that it would continue the same
// file.
func (h history) afterBreak() []way {
	switch {
	case h.out:
		return nil
	case h.restarts < h.tries:
		return []way{compareSamples, beginAnew}
	case h.single:
		return []way{standIn, singleSource}
	}
	return []way{standIn}
}

// afterWrong returns the ways after the file is complete and not the right one.
func (h history) afterWrong(o outcome) (all []way) {
	if o == wrongDigest && !h.pipe {
		if all = []way{reread}; !h.mixed { // else bytes of the server may be among them
			all = append(all, dropRecalled)
		}
	}
	switch {
	case h.byPieces:
		return all
	case h.listed && !h.contradicted:
		return append(all, blamePlace, standIn, discard)
	case h.contradicted:
		return append(all, blameDocument)
	case h.pipe || h.single:
		return append(all, singleSource, discard)
	}
	if o == wrongDigest {
		all = append(all, findWrong)
		if h.mixed {
			all = append(all, dropRecalled)
		}
	}
	if h.contested { // another place may have another size, and it is not known which is right
		all = append(all, dropSize)
	}
	if o == wrongSize {
		return append(all, singleSource, discard)
	}
	return append(all, keepRefuted)
}
