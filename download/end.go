package download

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"braid/download/partfile"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// ended takes note of how a fetch ended and tells the scheduler what that means for its source.
func (s *session) ended(id scheduler.FetchID, f *flight, err error) {
	o := f.from
	if size, ok := s.theEnd(o, err); ok {
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
		s.end(fileChanged, changed("it is shorter than what was asked for"))
		return
	}
	if err == nil {
		s.vouched(f)
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
			s.atlas.tell(o.tree, false)
		}
		s.hearRefusal(o, err)
		if s.disowned(o, err); s.how != ongoing {
			s.tellDown(o, f.lane)
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
		s.tellDown(o, f.lane)
	}
}

// shrunk says that the origin itself has nothing any more where the range was that it was asked for: not a stale
// mirror's answer (rule 25), but another file (rule 34).
func (s *session) shrunk(o *origin, err error) bool {
	var e *source.Error
	return errors.As(err, &e) && e.Status == http.StatusRequestedRangeNotSatisfiable &&
		e.Fault == source.FaultMismatch && e.Host == source.HostPort(o.url)
}

// tellDown says what becomes of a source that failed.
func (s *session) tellDown(o *origin, lane scheduler.SourceID) {
	until, gone := s.sched.Outlook(lane)
	s.observe(SourceDown{
		ID: o.id, URL: o.masked, Host: o.host, Err: o.err, Gone: gone && !o.banned, Banned: o.banned,
		Back: max(0, time.Until(until)), Active: s.fetches.active(),
	})
}

// mayMerge says that ranges of several answers can be put together: a digest of the whole file will tell, or
// the ETag does (S18, rule 15).
func (s *session) mayMerge() bool { return s.proves() || s.plan.continued }

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

// prove waits for the hash, which is at most a moment behind, and judges the file.
func (s *session) prove() (verify.Proof, error) {
	if s.result.NotModified {
		return verify.Proof{}, nil
	}
	if !s.hashing.begun() && !s.aside.awaits() && len(s.plan.signed.done) == 0 { // nothing was ever answered: there is no file
		return verify.Proof{}, s.sources.none()
	}
	if err := s.consult(); err != nil {
		return verify.Proof{}, err
	}
	if err := s.awaitSignatures(); err != nil {
		return verify.Proof{}, err
	}
	s.observe(Complete{Size: s.part.Front()})
	proof, err := s.hashing.prove(s.ctx, s.part.Front(), s.late)
	if err == nil {
		s.observe(Verified{Proof: proof})
	}
	return proof, err
}

// consult asks the server for the signatures that it names, where everything was here before it answered: from an earlier
// run, which ended for want of a key or of a better signature (rule 47), or from mirrors that were faster. What it says is
// taken as any answer of its is; one that does not answer has said nothing.
func (s *session) consult() error {
	o := s.sources.first()
	if s.heard || o == nil || s.standIn() || s.req.Stream != nil || !s.req.Anchors.Any() {
		return nil
	}
	a, err := look(s.ctx, s.http, s.req, condition{})
	if err == nil {
		err = s.admitOrigin(o, a)
	}
	if err == nil {
		s.askDocument()
	} else if s.how == ongoing && s.ctx.Err() == nil {
		s.note("%s is asked for a signature in vain: %v", o.masked, err)
	}
	return s.err
}

// streamed tells whether any byte went out.
func (s *session) streamed() bool { return s.req.Stream != nil && s.part.Front() > 0 }

// identity is what the journal says that the part file is a part of.
func (s *session) identity() partfile.Identity {
	id := identityOf(s.req, s.file, s.size, s.claims, s.tag)
	if s.tag.etag != "" {
		id.LastModified = s.date
	}
	id.Host, id.Date = s.plan.host, s.result.LastModified
	if p := s.plan.prior; p != nil && id.Host == "" { // it has not answered in this run
		id.Host, id.Date = p.Host, p.Date
	}
	return id
}
