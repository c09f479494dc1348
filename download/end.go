package download

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"braid/byterange"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// ended takes note of how a fetch ended and tells the scheduler what that means for its source.
func (s *session) ended(id scheduler.FetchID, f *flight, err error) {
	o := f.from
	if size, ok := s.endOfFile(o, err); ok {
		s.settle(size)
		err = nil
	}
	if err == nil {
		err = s.short(f)
	}
	s.fetches.ended(id, f, err)
	if isFinal(err) {
		s.stop(err)
	}
	if f.sink.document {
		s.end(gotDocument, errRefused)
	}
	if s.how != ongoing {
		return
	}
	var over *overrunError
	if errors.As(err, &over) { // it has another file (C8)
		err, o.other = mismatch(o, "%w", over), true
	}
	if o.first && s.shrunk(o, err) {
		s.end(fileChanged, errShrunk)
		return
	}
	if err == nil {
		s.takeContentDigest(f)
	}
	if errors.Is(err, errDated) { // which is no failure
		s.useLast(o)
		s.step(scheduler.FetchEnded{Fetch: id, Fault: scheduler.FaultGone})
		return
	}
	fault, after := faultOf(err)
	if s.c.Timeout > 0 && after > s.c.Timeout { // rule 23
		err = fmt.Errorf("%w (it would be back in %v, and nobody waits longer than %v)", err, after.Round(time.Second), s.c.Timeout)
		fault = scheduler.FaultGone
	}
	if fault != scheduler.FaultNone {
		s.sources.failed(o, err, fault)
		if fault != scheduler.FaultTransient {
			s.trees.record(o.tree, false)
		}
		s.applyRefusal(o, err)
		if s.disowned(o, err); s.how != ongoing {
			s.reportDown(o, f.lane)
			return
		}
	}
	if fault == scheduler.FaultTransient {
		s.brokeOff()
	}
	if fault == scheduler.FaultTransient && s.known && !s.proves() && len(s.fetches.running) == 0 {
		s.startOver()
	}
	s.step(scheduler.FetchEnded{Fetch: id, Fault: fault, After: after})
	if fault != scheduler.FaultNone {
		s.reportDown(o, f.lane)
	}
}

var errShrunk = changed("it is shorter than what was asked for")

// shrunk says that the origin itself has nothing any more where the range was that it was asked for: not a stale
// mirror's answer (rule 25), but another file (rule 34).
func (s *session) shrunk(o *origin, err error) bool {
	var e *source.Error
	return errors.As(err, &e) && e.Status == http.StatusRequestedRangeNotSatisfiable &&
		e.Fault == source.FaultMismatch && e.Host == source.HostPort(o.url)
}

// reportDown says what becomes of a source that failed.
func (s *session) reportDown(o *origin, lane scheduler.SourceID) {
	until, gone := s.sched.Outlook(lane)
	s.observe(SourceDown{
		ID: o.id, URL: o.masked, Host: o.host, Err: o.err, Gone: gone && !o.banned, Banned: o.banned,
		Back: max(0, time.Until(until)), Active: s.fetches.active(),
	})
}

// mayMerge says that ranges of several answers can be put together: a digest of the whole file will tell, or
// the ETag does (S18, rule 15).
func (s *session) mayMerge() bool { return s.proves() || s.carried.continued }

// proves reports whether something shows that a later answer is of the same file.
func (s *session) proves() bool { return s.tied() || s.tag.etag != "" }

// startOver ends a session after which nothing shows that the rest would belong to what is here.
func (s *session) startOver() {
	if s.part.Front() > 0 {
		s.end(notMergeable, noMerge(unmergeable, s.sources.last))
	}
}

const unmergeable = "nothing shows that the rest would belong to the same file"

// noMerge says why what is here is of no use; cause is the failure that made it necessary, or nil.
func noMerge(reason string, cause error) error {
	if cause != nil {
		reason = fmt.Sprintf("%v; %s", cause, reason)
	}
	return &fault{kind: Network, what: reason, cause: cause}
}

// short is an error if a body of which nothing said how long it is ended before the file does by what the same server said of the
// same version: to HEAD, or to GET before (RFC 9110, section 8.6). Then it was cut.
func (s *session) short(f *flight) error {
	a, said := f.answer, s.carried.sized
	if s.size >= 0 || a.Size >= 0 || a.Host != said.Host || f.sink.cut || f.at >= said.Size || otherVersion(said, a) != "" {
		return nil
	}
	return &source.Error{
		URL: f.from.masked, Host: f.from.host, Fault: source.FaultNetwork, Retry: true,
		Err: fmt.Errorf("body ends at byte %d, and the server said that the file has %d: %w", f.at, said.Size, io.ErrUnexpectedEOF),
	}
}

// endOfFile says that the origin, asked for what follows what is here, answered that nothing does (416, RFC 9110, section 14.4).
func (s *session) endOfFile(o *origin, err error) (size int64, ok bool) {
	var e *source.Error
	if !o.first || !s.mayEnd(s.part) || !errors.As(err, &e) || e.Status != http.StatusRequestedRangeNotSatisfiable || len(e.Hops) == 0 {
		return 0, false
	}
	size, err = byterange.ParseUnsatisfied(http.Header(e.Hops[len(e.Hops)-1].Header).Get("Content-Range"))
	return size, err == nil && size == s.part.Front()
}

// settle says how long the file is, when that comes out after all of it is here.
func (s *session) settle(size int64) {
	if s.size = size; s.hold() == nil {
		s.step(scheduler.SizeKnown{Size: size})
	}
}

// brokeOff is told of every fetch that may be tried again. The second that ends at one place leads to a look at the digest. Of
// a stream, what is out cannot be read again.
func (s *session) brokeOff() {
	if !s.mayEnd(s.part) || s.req.Stream != nil {
		return
	}
	front := s.part.Front()
	again := s.cut.at == front
	if s.cut.at = front; !again || s.cut.tried == front {
		return
	}
	s.cut.tried = front
	claims, ctx := slices.Clone(s.claims), s.ctx
	s.workers.Go(func() {
		check := verify.NewChecker(front, claims)
		if newReading(func(Event) {}, front, 0).copy(ctx, check, io.NewSectionReader(s.part, 0, front)) != nil {
			return
		}
		if _, err := check.Proof(); err == nil {
			s.cut.ends <- front // which has room for it
		}
	})
}

// digestHolds is told that the digest is that of the first size bytes.
func (s *session) digestHolds(size int64) {
	if s.mayEnd(s.part) && s.part.Front() == size {
		s.settle(size)
	}
}

// takeContentDigest takes note of an answer that came as a whole and fits its own Content-Digest (RFC 9530, section 2). If that is the
// whole file, from the server that the user asked, it is worth as much as a Digest of that server; of a part of the file, or of a
// mirror, it says that nothing was damaged on the way and no more.
func (s *session) takeContentDigest(f *flight) {
	o, a := f.from, f.answer
	if f.sink.cut || a.Ranged || len(a.Content) == 0 || !o.first || s.standIn() || s.req.described() || verify.Strong(s.claims) {
		return
	}
	if s.roleOf(o) != asOrigin || ownAnswers(a.Hops, asOrigin) < len(a.Hops) {
		return
	}
	// A SHA-256 is made of every file; for what else there is the file is read again.
	if i := slices.IndexFunc(a.Content, isSHA256); i >= 0 {
		s.claims = join(s.claims, a.Content[i:i+1])
		s.late = a.Content[i : i+1]
		return
	}
	s.corroborate(a.Content)
}

// exclude ends a fetch of a source that lied: it does not write any more, and what it wrote and nobody was told of is
// forgotten.
func (s *session) exclude(f *flight) {
	f.excluded = true
	unheard := f.sink.halt(f.at)
	var wrong []byterange.Range
	for r := range unheard.All() {
		for g := range s.here.Gaps(r) {
			wrong = append(wrong, g)
		}
	}
	for _, g := range wrong {
		s.void(g)
	}
}

// void forgets bytes that are wrong. If they were hashed already, the hash begins anew; of a stream they are out.
func (s *session) void(r byterange.Range) {
	s.here.Remove(r)
	s.swarm.gone(r)
	s.part.Revoke(r)
	s.disk.do(s.part.Void)
	s.sources.void(r)
	switch {
	case s.hashing.passed() <= r.Start:
	case s.req.Stream != nil:
		s.stop(fmt.Errorf("bytes from %d on are wrong, and some of them are out", r.Start))
	default:
		s.rehash()
	}
}

// ban takes note of a source that lied.
func (s *session) ban(lane scheduler.SourceID) {
	o := s.sources.lanes[lane]
	if o.banned {
		return
	}
	p := &s.hashing.pieces
	start, end := p.list.At(int(p.wrong))
	p.banned++
	s.sources.ban(o, "those from %d to %d are not what %s says", start, end-1, p.from)
	s.trees.record(o.tree, false)
	s.reportDown(o, lane)
}

// A body of which nobody says how long it is may break off behind its last byte: a chunked one whose last chunk is missing, for
// example. By itself that is a cut like any other, and no file (rule 17): the rest is asked for. When there is none, as the
// server then says or as nothing comes of it, and a strong digest is known, that decides whether what is here is the file.

// A cutoff is where bodies of unknown length broke off.
type cutoff struct {
	at    int64      // the last time; 0: never yet
	tried int64      // what was compared with the digest then
	ends  chan int64 // a length of the file by which its digest holds
}
