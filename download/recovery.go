package download

import (
	"slices"

	"braid/internal/partfile"
	"braid/verify"
)

// An outcome is how an attempt to bring the file ended.
type outcome uint8

const (
	ongoing      outcome = iota // it has not ended, or it brought the file
	failed                      // nothing that another attempt would repair
	wantsHead                   // the first answer names mirrors and gives no digest; an answer to HEAD may have one
	gotDocument                 // the server answered with a document that describes the file
	sizeDisowned                // the size that a source gave cannot be right: it has a document in place of the file, or the server says another
	fileChanged                 // the origin has another version of the file
	notMergeable                // nothing shows that the rest would belong to what is here
	partTouched                 // another program wrote to the part file
	wrongDigest                 // all of the file is here, and its digest is not the right one
	wrongSize                   // all that the sources have is here, and it is not as long as the file
	noSource                    // every source failed
)

// outcomeOf is the outcome of an attempt that ended with err, where nothing else is known of it.
func outcomeOf(err error) outcome {
	switch {
	case is[*partfile.TouchedError](err):
		return partTouched
	case is[*verify.MismatchError](err):
		return wrongDigest
	case is[*verify.SizeError](err):
		return wrongSize
	case is[*NoSourceError](err):
		return noSource
	}
	return failed
}

// A history is what decides about another attempt: what happened in this run, the last attempt included, and the request.
type history struct {
	changes  int // how often the file changed while it was fetched
	restarts int // how often what came could not be gone on with, since a source was asked that had not been
	tries    int // how often that may be
	touched  int // how often another program wrote to the part file

	single bool // sources are asked one at a time, as what several brought was wrong
	pipe   bool // the file goes to a stream
	out    bool // and some of it is out, which cannot be taken back

	byPieces     bool // the pieces that the user named prove the file; each was checked as it came
	listed       bool // a document names places of the file and no strong digest: each place serves alone
	contradicted bool // all pieces of the user's document hold, and its own digest of the whole does not
	contested    bool // a digest is known, and no authority above the server gave the size
	digest       bool // an authority has stated a strong digest: all places were sources already, and it decides
	mixed        bool // a digest alone ties what is here together
	recalled     bool // the digest that does not hold is of an earlier run, and yields
	heads        int  // how often HEAD was asked
	drops        int  // how often a size was given up
}

// mostDrops is how many sizes are given up for one version of the file.
const mostDrops = 16

// mostHeads is how often HEAD is asked: a second time where the answer was of another version than that to GET.
const mostHeads = 2

func mayAskHead(asked int) bool { return asked < mostHeads }

// A way is something that may lead to the file after an attempt that failed. Ways are tried in order until one can be gone.
type way uint8

const (
	askHead        way = iota // ask HEAD, and go on
	dropSize                  // try the size that another source gives, or do without one
	dropRecalled              // forget the digests of an earlier run that yield
	nextVersion               // forget what is known of the version before
	withoutServer             // go on with the other places: the server refuses what the file has, and announces no other version
	compareSamples            // if the user allows it, go on when size, date and samples are the same (RFC 9110, section 8.8)
	beginAnew                 // ask the same sources for all of the file again
	reread                    // read again what is here, and fetch what another program changed
	findWrong                 // find out which bytes are wrong: by pieces, or by what other sources have
	singleSource              // ask the next source for all of the file, alone
	standIn                   // let a mirror that the user named take the server's place
	withoutPieces             // give up pieces that no source has
	askPeers                  // ask the peers of a torrent of the file
	blamePlace                // end the use of the place whose bytes are wrong
	blameDocument             // end: the document contradicts itself
	keepRefuted               // end, and keep what is here in case the digest was mistyped
	discard                   // end, and throw away what is here
)

// fromStart reports whether the way leads to an attempt that begins at the first byte.
func (w way) fromStart() bool {
	return w == nextVersion || w == beginAnew || w == singleSource || w == standIn
}

// ways are the ways after an attempt with outcome o, the best one first. There are none after a failure that is final.
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

// closed reports whether a way cannot be gone. What is out of a pipe is not begun again. Where a digest is known,
// mirrors of the user's were sources like all others, but for those that could not feed a pipe.
func (h history) closed(w way) bool {
	switch w {
	case standIn:
		if h.digest && !h.pipe && !h.listed {
			return true
		}
	case withoutServer:
		return h.out
	case dropSize:
		return h.out || h.drops >= mostDrops
	case dropRecalled:
		return !h.recalled
	}
	return h.out && w.fromStart()
}

// afterBreak is for a server that broke off and shows by nothing that it would go on with the same file.
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

// afterWrong is for a file that is here and is not the right one.
func (h history) afterWrong(o outcome) (all []way) {
	if o == wrongDigest && !h.pipe {
		if all = []way{reread}; !h.mixed { // else what the server sent may be among it
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
	if h.contested { // another place may have a file of another size, and it is not known which one is right
		all = append(all, dropSize)
	}
	if o == wrongSize {
		return append(all, singleSource, discard)
	}
	return append(all, keepRefuted)
}
