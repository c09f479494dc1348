package download

import (
	"slices"

	"braid/internal/partfile"
	"braid/verify"
)

// An outcome is how an attempt to download the file ended.
type outcome uint8

const (
	ongoing      outcome = iota // the attempt has not ended, or has succeeded
	failed                      // another attempt would not help
	wantsHead                   // a digest is missing, which the answer to HEAD may have
	gotDocument                 // the server answered with a document that describes the file
	sizeDisowned                // the known size is wrong: its source has a document instead, or another size was stated
	fileChanged                 // the origin has another version of the file
	notMergeable                // nothing shows that the rest would belong to the existing bytes
	partTouched                 // another program wrote to the part file
	otherFile                   // the file is complete, and does not have the digest found beside it
	wrongDigest                 // the file is complete, and does not have the known digest
	wrongSize                   // all bytes of the sources were received, and their number is not the size of the file
	noSource                    // every source failed
)

// outcomeOf returns the outcome that follows from err, the error of an attempt.
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

// A history has what decides about another attempt: the events of this run, with the last attempt, and the request.
type history struct {
	changes  int // how often the file changed during the download
	restarts int // how often the received bytes could not be continued since a new source was asked
	tries    int // maximum of restarts
	touched  int // how often another program wrote to the part file

	single  bool // sources are asked one at a time, because the bytes of several sources were wrong
	several bool // several sources sent bytes in the last attempt
	stoodIn bool // the file is that of a mirror, because the server has failed
	pipe    bool // the file goes to a stream
	out     bool // some bytes were written to the stream, and cannot be replaced

	byPieces     bool // only the pieces of a torrent prove the file; each piece was checked when complete
	listed       bool // a document names places of the file and no strong digest, so each place is asked alone
	contradicted bool // all pieces of the user's document match, but its digest of the whole file does not
	contested    bool // a digest is known, and no authority above the server gave the size
	digest       bool // an authority stated a strong digest, so all places were already sources
	mixed        bool // only a digest shows that all existing bytes are of one version
	nearby       bool // only a digest beside the file ties the bytes of an earlier run, or it refuted them in that run, too
	recalled     bool // the digest that does not match is from an earlier run, and is used only until contradicted
	heads        int  // how often HEAD was sent
	drops        int  // number of sizes that were given up
}

// mostDrops limits how many sizes are given up for one version of the file.
const mostDrops = 16

// mostHeads limits how often HEAD is sent: again if its first answer was of another version than the answer to GET.
const mostHeads = 2

func mayAskHead(asked int) bool { return asked < mostHeads }

// A way is a recovery strategy after an attempt that failed. Ways are tried in order until one can be applied.
type way uint8

const (
	askHead        way = iota // send HEAD, and continue
	dropSize                  // try the size that another source gives, or continue without a size
	dropRecalled              // discard the yielding digests of an earlier run
	nextVersion               // discard the facts about the previous version
	withoutServer             // continue with other places: the server refuses a range, and announces no other version
	compareSamples            // if the user allows that, resume if size, date and samples are the same (RFC 9110, section 8.8)
	beginAnew                 // ask the same sources for the whole file again
	reread                    // read the existing bytes again, and fetch those that another program changed
	findWrong                 // find the wrong bytes: by pieces, or by comparing sources
	singleSource              // ask the next source alone for the whole file
	standIn                   // ask a mirror that the user named instead of the server
	withoutPieces             // ignore digests of pieces that no source has
	askPeers                  // ask the peers of a torrent of the file
	blamePlace                // ban the place that sent wrong bytes
	blameDocument             // end: the document contradicts itself
	keepRefuted               // end, and keep the file, because the digest may be mistyped
	discard                   // end, and discard the bytes
)

// fromStart reports whether the next attempt begins at the first byte.
func (w way) fromStart() bool {
	return w == nextVersion || w == beginAnew || w == singleSource
}

// ways returns the ways after an attempt with outcome o, the best way first. It returns nil after a final failure.
func (h history) ways(o outcome) []way {
	var all []way
	switch o {
	case wantsHead:
		if mayAskHead(h.heads) {
			all = []way{askHead}
		}
	case sizeDisowned:
		all = []way{dropSize}
	case fileChanged: // only once, because a file that changes all the time would never be complete
		if h.changes <= 1 {
			all = []way{nextVersion, withoutServer}
		}
	case notMergeable:
		all = h.afterBreak()
	case otherFile: // a list is no reason to discard bytes, unless they were resumed because of that list
		switch {
		case !h.pipe:
			all = []way{reread, findWrong}
		case h.single, h.several: // one of them may have the listed file
			all = []way{singleSource}
		}
		switch {
		case h.nearby:
			all = append(all, beginAnew)
		case h.stoodIn && h.single:
			all = append(all, singleSource)
		case h.stoodIn: // the bytes are not the server's, and another mirror may have the listed file
			all = append(all, standIn)
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

// closed reports whether w cannot be applied. Bytes that went through a pipe are not sent again. If a digest is known,
// the user's mirrors were sources already, except those that could not feed a pipe.
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

// afterBreak returns the ways after a server broke off, if nothing shows that the next answer is of the same version.
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

// afterWrong returns the ways after the file is complete and wrong.
func (h history) afterWrong(o outcome) (all []way) {
	if o == wrongDigest && !h.pipe {
		if all = []way{reread}; !h.mixed { // if mixed, findWrong comes first
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
	if h.contested { // another place may have another size, and the right size is unknown
		all = append(all, dropSize)
	}
	if o == wrongSize {
		return append(all, singleSource, discard)
	}
	return append(all, keepRefuted)
}
