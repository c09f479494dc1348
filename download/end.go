package download

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/internal/version"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// ended handles the end of f and reports its fault, if any, to the scheduler.
func (s *session) ended(id scheduler.FetchID, f *flight, err error) {
	o := f.from
	if s.end.how == ongoing { // a redirect before the failure, or before the fetch was given up, may have stated a digest
		s.applyRefusal(o, err)
	}
	if size, ok := s.facts.endOfFile(o, err); ok {
		if s.end.how == ongoing {
			s.settle(size)
		}
		err = nil
	}
	if err == nil {
		err = f.short(s.facts.known.size, s.carried.sized)
	}
	s.fetches.ended(id, f, err)
	if isFinal(err) {
		s.stop(err)
	}
	if f.sink.document {
		s.end.early(gotDocument, errRefused)
	}
	if s.end.how != ongoing {
		return
	}
	if over, ok := errors.AsType[*overrunError](err); ok { // the source has another file (RFC 6249, section 7)
		err, o.other = mismatch(o, "%w", over), true
	}
	if s.facts.endsEarlier(o, err) {
		s.hearRedirects()
		s.end.early(sizeDisowned, errShrunk)
		return
	}
	if err == nil {
		s.proving.takeContentDigest(f)
	}
	if errors.Is(err, errDated) { // not a failure of the mirror
		s.choice.useLast(o)
		s.step(scheduler.FetchEnded{Fetch: id, Fault: scheduler.FaultGone})
		return
	}
	fault, after := faultOf(err)
	if fault == scheduler.FaultHeld {
		s.step(scheduler.FetchEnded{Fetch: id, Fault: fault, After: after})
		return
	}
	if s.c.Timeout > 0 && after > s.c.Timeout {
		err = fmt.Errorf("%w (the server could be asked again only in %v, which is more than the timeout of %v)", err,
			after.Round(time.Second), s.c.Timeout)
		fault = scheduler.FaultGone
	}
	if s.faulted(f, err, fault) {
		return
	}
	s.step(scheduler.FetchEnded{Fetch: id, Fault: fault, After: after})
	if fault != scheduler.FaultNone {
		s.reportDown(o, f.lane)
	}
}

// faulted applies what the end of f shows about its source and the file. It reports whether the session has ended.
func (s *session) faulted(f *flight, err error, fault scheduler.Fault) bool {
	o := f.from
	s.cut.brokeOff(err, fault)
	if s.cut.shrunk = s.cut.shrunk || o.first && shrunk(o, err) && !s.facts.known.guessed(); s.cut.shrunk && !s.cut.comparing {
		s.end.early(fileChanged, errShrunk)
		return true
	}
	if fault != scheduler.FaultNone {
		s.sources.failed(o, err, fault)
		if fault != scheduler.FaultTransient {
			s.trees.record(o.tree, false)
		}
		if errors.Is(err, errInPlace) && s.facts.known.sizeAt == o.url.String() { // the size is that of a document
			s.end.early(sizeDisowned, err)
			s.reportDown(o, f.lane)
			return true
		}
	}
	alone := s.facts.begun && !s.facts.proves() && len(s.fetches.running) == 0
	if fault == scheduler.FaultTransient && alone && s.part.Front() > 0 {
		s.end.early(notMergeable, noMerge(unmergeable, s.sources.last))
	}
	return false
}

var errShrunk = changed("it now ends before the end of the requested range")

// shrunk reports whether err is an answer of 416, to a range of the known file, from the origin itself. That means that
// the file has changed. A 416 of a mirror means that the mirror is stale.
func shrunk(o *origin, err error) bool {
	var e *source.Error
	return errors.As(err, &e) && e.Status == http.StatusRequestedRangeNotSatisfiable &&
		e.Fault == source.FaultMismatch && e.Host == source.HostPort(o.url)
}

// endsEarlier reports whether o stated with a 416 answer (RFC 9110, section 15.5.17) that the file ends where the
// downloaded bytes end, and not at the guessed size. The digest then decides. endsEarlier records the size that o stated.
func (f *facts) endsEarlier(o *origin, err error) bool {
	size, ok := unsatisfied(err)
	if !ok || size == f.known.size {
		return false
	}
	o.claimed = size
	return f.known.guessed() && ends(f.part, size) && !slices.Contains(f.known.tried, size)
}

// reportDown sends a SourceDown event for o, a source that failed.
func (s *session) reportDown(o *origin, lane scheduler.SourceID) {
	until, gone := s.sched.Outlook(lane)
	s.req.observe(SourceDown{
		ID: o.id, URL: o.masked, Host: o.host, Err: o.err, Gone: gone && !o.banned, Banned: o.banned,
		Back: max(0, time.Until(until)), Active: s.fetches.active(),
	})
}

// mayMerge reports whether ranges of several answers can be combined.
func (f *facts) mayMerge() bool { return f.proves() || f.carried.continued }

// tied reports whether bytes of several servers may be combined, because a digest of the file or its pieces proves
// them, or the complete file is compared with the digest that an earlier run found beside it.
func (f *facts) tied() bool {
	return f.known.strong() || verify.Strong(f.known.digests.used(ties)) || verify.Strong(f.req.Published.Claims) ||
		f.req.provenByPieces()
}

// proves reports whether a digest or an ETag shows that a later answer is of the same file.
func (f *facts) proves() bool { return f.tied() || f.known.tag.etag != "" }

const unmergeable = "nothing shows that the rest is from the same file as the received part"

// noMerge returns the error of bytes that cannot be combined with others. cause is the failure after which they would
// have to be combined, or nil.
func noMerge(reason string, cause error) error {
	if cause != nil {
		reason = fmt.Sprintf("%v; %s", cause, reason)
	}
	return &fault{kind: Network, what: reason, cause: cause}
}

// short returns an error if the body of f, which had no length, ended before the size of the file, or before the size
// in an earlier answer, before, of the same server for the same version (RFC 9110, section 8.6).
func (f *flight) short(size int64, before source.Answer) error {
	a := f.answer
	if size >= 0 && a.Size < 0 && !a.Ranged && !f.sink.cut && f.at < size {
		f.from.claimed = f.at
		return f.from.breaks(fmt.Errorf("body ends at byte %d of %d: %w", f.at, size, io.ErrUnexpectedEOF))
	}
	if size >= 0 || a.Size >= 0 || a.Host != before.Host || f.sink.cut || f.at >= before.Size ||
		version.Compare(viewOf(before), viewOf(a)).Judgment == version.Other {
		return nil
	}
	return f.from.breaks(fmt.Errorf("body ends at byte %d, but the server gave the size %d: %w", f.at, before.Size,
		io.ErrUnexpectedEOF))
}

// endOfFile returns the size of the file if the origin answers that nothing follows the downloaded bytes (416; RFC
// 9110, section 14.4). A digest, or the tag of the answer, must show that the answer and the bytes are of one version.
func (f *facts) endOfFile(o *origin, err error) (size int64, ok bool) {
	size, ok = unsatisfied(err)
	return size, ok && o.first && f.known.size < 0 && ends(f.part, size) && (f.mayEnd(size) || f.stillTagged(err))
}

// stillTagged reports whether err is an answer with the same tag as all of the downloaded bytes.
func (f *facts) stillTagged(err error) bool {
	e, ok := errors.AsType[*source.Error](err)
	if !ok || len(e.Hops) == 0 || f.known.tag.etag == "" || f.known.mixed || f.part.Front() == 0 {
		return false
	}
	etag := http.Header(e.Hops[len(e.Hops)-1].Header).Get("ETag")
	return f.known.tag == tag{metalink.StrongETag(etag), e.Host}
}

// unsatisfied returns the size of the file that a source states in a 416 answer, and whether err is such an answer.
func unsatisfied(err error) (size int64, ok bool) {
	var e *source.Error
	if !errors.As(err, &e) || e.Status != http.StatusRequestedRangeNotSatisfiable || len(e.Hops) == 0 {
		return 0, false
	}
	size, err = byterange.ParseUnsatisfied(http.Header(e.Hops[len(e.Hops)-1].Header).Get("Content-Range"))
	return size, err == nil
}

// settle sets the size of the file once all its bytes were downloaded.
func (s *session) settle(size int64) {
	if s.facts.known.size = size; s.facts.reserve() == nil {
		s.step(scheduler.SizeKnown{Size: size})
	}
}

// brokeOff is called for each fetch that ended. If a source states that the file ends within the downloaded bytes, or a
// second body ends where the downloaded bytes end, brokeOff compares the digest of the bytes up to there, in a
// goroutine. It cannot do that for a stream: sent bytes cannot be read again.
func (x *cutoff) brokeOff(err error, fault scheduler.Fault) {
	size, ok := x.endsHere(err, fault)
	if !ok || x.req.inOrder() || !x.facts.mayEnd(size) || x.comparing || slices.Contains(x.tried, size) {
		return
	}
	x.tried, x.comparing = append(x.tried, size), true
	claims, ctx := x.facts.known.digests.counting(), x.ctx
	x.workers.Go(func() {
		check, ends := verify.NewChecker(size, claims), int64(-1)
		err := newReading(func(Event) {}, size, 0).copy(ctx, check, io.NewSectionReader(x.part, 0, size))
		if err == nil {
			_, err = check.Proof()
		}
		if err == nil {
			ends = size
		}
		x.ends <- ends // ends has a buffer for one value
	})
}

// compared handles the result of brokeOff. If size is not -1, the first size bytes have the digest of the file, so the
// file ends there, whatever the server stated. If size is -1, the digest does not match.
func (s *session) compared(size int64) {
	s.cut.comparing = false
	switch {
	case size < 0 && s.cut.shrunk:
		s.end.early(fileChanged, errShrunk)
	case size < 0 || size == s.facts.known.size || !s.facts.mayEnd(size):
	case s.facts.known.size < 0 && ends(s.part, size):
		s.settle(size)
	default:
		s.facts.known.stated, s.cut.held = size, size
		s.hearRedirects()
		s.end.early(sizeDisowned, changed("according to its digest, the file ends before its assumed end"))
	}
}

// lastFailed ends the session because no source is left. If the digest is being compared, it first waits for the
// result, which may show that the file is complete.
func (s *session) lastFailed() {
	if s.cut.comparing {
		s.compared(<-s.cut.ends)
		s.end.done = s.end.how == ongoing && s.facts.known.size >= 0 && ends(s.part, s.facts.known.size)
	}
	if !s.end.done && s.end.how == ongoing {
		s.stop(s.sources.none())
	}
}

// ends reports whether the bytes of part have no gap and end at size.
func ends(part *partfile.File, size int64) bool {
	have := part.Have()
	return part.Front() == size && have.Len() == size
}

// endsHere returns the offset, within the downloaded bytes, at which the file may end according to err and fault, which
// state how a fetch ended. If a size is known, only a body that ended early counts, not a server that is gone.
func (x *cutoff) endsHere(err error, fault scheduler.Fault) (size int64, ok bool) {
	if size, ok := unsatisfied(err); ok {
		return size, true
	}
	front, sized := x.part.Front(), x.facts.known.size >= 0
	if fault != scheduler.FaultTransient || sized && !errors.Is(err, io.ErrUnexpectedEOF) || !ends(x.part, front) {
		return 0, false
	}
	again := x.at == front
	x.at = front
	return front, again
}

// takeContentDigest uses the Content-Digest of the complete answer to f (RFC 9530, section 2). From the asked server,
// it counts like Digest. From any other server, it only shows that the transfer was not damaged.
func (p *proving) takeContentDigest(f *flight) {
	k := p.facts.known
	o, a := f.from, f.answer
	if f.sink.cut || a.Ranged || len(a.Content) == 0 || !o.first || p.standIn() || p.req.described() || k.strong() {
		return
	}
	if p.roleOf(o) != asOrigin || ownAnswers(a.Hops, asOrigin, p.carried.spoken()) < len(a.Hops) {
		return
	}
	if hostVouches(a) {
		k.digests.add(theHost, noted, a.Content)
	}
	// A SHA-256 is computed of every file. For other algorithms the file is read again.
	if i := slices.IndexFunc(a.Content, isSHA256); i >= 0 {
		k.digests.add(theServer, counts, a.Content[i:i+1])
		p.facts.late = a.Content[i : i+1]
		return
	}
	p.corroborate(a.Content)
}

// exclude ends f, a fetch of a source that sent wrong bytes. It voids the unreported bytes of f.
func (s *session) exclude(f *flight) {
	f.excluded = true
	unheard := f.sink.halt(f.at)
	for r := range unheard.All() {
		for _, g := range slices.Collect(s.here.Gaps(r)) {
			s.void(g)
		}
	}
}

// void marks the wrong bytes r as missing. If some were hashed, hashing starts over; if some were sent on, s fails.
func (s *session) void(r byterange.Range) {
	s.fetches.reportBrought()
	s.req.observe(Voided{r})
	s.here.Remove(r)
	s.choice.swarm.gone(r)
	s.part.Revoke(r)
	s.disk.do(s.part.Void)
	s.sources.void(r)
	switch {
	case s.proving.hashing.passed() <= r.Start:
	case s.req.Stream != nil:
		s.stop(s.req.fail(Mismatch, fmt.Errorf("bytes from %d on are wrong, and some of them were already written", r.Start), ""))
	case s.proving.hashing.upload != nil && r.Start < s.proving.hashing.upload.begins():
		what := fmt.Sprintf("bytes from %d on are wrong, and some of them were already uploaded", r.Start)
		s.end.early(notMergeable, &fault{kind: Mismatch, what: what})
	default:
		s.proving.rehash()
	}
}

// ban excludes the source of lane, which sent a wrong piece.
func (s *session) ban(lane scheduler.SourceID) {
	o := s.sources.lanes[lane]
	if o.banned {
		return
	}
	p := &s.proving.hashing.pieces
	start, end := p.list.At(int(p.wrong))
	p.banned++
	s.sources.ban(o, "bytes %d to %d do not match %s", start, end-1, p.from)
	s.trees.record(o.tree, false)
	s.reportDown(o, lane)
}

// A cutoff records where bodies broke off, for example chunked bodies without a last chunk. The rest of the file is
// requested. If no more bytes come, a strong digest decides whether the downloaded bytes are the file.
type cutoff struct {
	*attempt
	facts     *facts
	at        int64      // where the last body broke off; 0: no body
	tried     []int64    // sizes that were compared with the digest
	comparing bool       // the digest is being compared
	shrunk    bool       // the server has nothing after these bytes: if the digest does not match, the file has changed
	ends      chan int64 // the result of a comparison: the size that the digest confirmed; -1: none
	held      int64      // the size that the digest confirmed, if another size was known; 0: none
}
