package download

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/source"
	"braid/verify"
)

// A partial holds the bytes of the file before the file is in place: in a part file, in the nameless file of an upload
// or a stream, or in a Target. Only its methods open, empty, commit or keep these bytes. Sessions write them.
type partial struct {
	*call
	part     *partfile.File
	delivery delivery

	// The fields below describe the bytes that a failed download left for the next run.
	kept     int64
	keptAt   string               // path of the kept bytes; empty: path of the part file
	moved    *partfile.MovedError // error if the kept part file was moved or removed
	useful   bool                 // the next run could resume
	unproven bool                 // the rest may be of another file; see Request.IfExists.Continue
	listed   bool                 // unproven, unless the next run finds the digest beside the file again
	refuted  bool                 // the kept file is complete, and does not have the digest of the request
	setAside []string             // paths of the files that were set aside
}

// open opens the part file and resumes from the bytes of an earlier run, as far as possible.
func (p *partial) open(ctx context.Context) (err error) {
	if p.upload != nil {
		return p.openWindow(ctx)
	}
	if !p.req.hasName() {
		p.part, err = nameless(p.http.files, p.req.Target)
		return err
	}
	if p.req.IfExists.Refresh {
		if err := lookForPart(p.call); err != nil {
			return err
		}
	}
	if p.part, err = partfile.Open(p.http.files, p.req.Dir, p.req.Name); err != nil {
		return err
	}
	if err := p.http.key.Make(); err != nil {
		p.req.note("the journal could not be sealed, so the next run must ask the server about the file again: %v", err)
	}
	p.part.SealWith(p.http.key)
	if err = p.spare(); err == nil {
		err = p.resume(ctx)
	}
	if err != nil || p.document {
		p.setAside = partfile.SetAside(p.part)
		return errors.Join(err, p.keepOpposed(), p.part.Close())
	}
	p.carried.tellAside(p.req, p.part)
	return nil
}

// spare returns an error if the file would replace that of another download of the batch. The part file is locked, so
// that no such file appears later.
func (p *partial) spare() error {
	if p.http.placed == nil {
		return nil
	}
	info, _, err := partfile.Target(p.http.files, p.req.Dir, p.req.Name)
	if err != nil || !p.http.placed.has(info.ID) {
		return err
	}
	return p.inTheWay("is the file of another URL of this run")
}

// openWindow opens the nameless file of an upload. It continues an earlier upload if the rest is of the same file.
func (p *partial) openWindow(ctx context.Context) (err error) {
	if p.part, err = nameless(p.http.files, nil); err != nil {
		return err
	}
	size, data, err := p.upload.to.Resume(ctx)
	if err != nil {
		return errors.Join(err, p.upload.close(), p.part.Close())
	}
	if size == 0 {
		return nil
	}
	var state uploadState
	if json.Unmarshal(data, &state) != nil {
		p.req.observe(Restarted{Reason: "the record of the uploaded parts cannot be read"})
		return p.upload.restart(ctx)
	}
	p.upload.takeOver(size, state)
	r := &resumption{partial: p, prior: state.Identity, sealed: true}
	if err := r.spareOther(); err != nil {
		return errors.Join(err, p.upload.close(), p.part.Close())
	}
	prior, err := p.continuesUpload(ctx, state.Identity)
	if p.document || undecided(ctx, err) {
		keep := !outdated(state.Identity, p.carried.opposed)
		if keep {
			p.kept = size
		}
		return errors.Join(err, p.upload.end(keep, amended(p.req, p.carried)), p.part.Close())
	}
	if err != nil {
		if spared := spareNamed(r); spared != nil {
			return errors.Join(spared, p.upload.close(), p.part.Close())
		}
		p.req.observe(Restarted{Reason: err.Error()})
		return p.upload.restart(ctx)
	}
	for _, s := range state.Signatures {
		p.carried.signed.all = append(p.carried.signed.all, found{from: s.From, data: s.Data, text: s.Text, maybe: s.Maybe})
	}
	p.part.Skip(size)
	return p.goOnWith(prior)
}

// goOnWith resumes from the existing bytes, without the bytes beyond the size that an authority has stated.
func (p *partial) goOnWith(id partfile.Identity) error {
	p.recall(id)
	if republished(p.req, id) {
		p.carried.digests.add(aList, ties, id.Looked)
	}
	if k := p.carried.known; p.req.onDisk() && k.size >= 0 && p.reaches(k.size) {
		if !k.bound() {
			k.size, k.sizeBy, k.sizeAt = -1, unstated, ""
		} else if err := p.cutOff(&sources{}, k.size); err != nil {
			return err
		}
	}
	have := p.part.Have()
	p.result.Resumed = have.Len()
	p.req.observe(Resumed{Bytes: have.Len(), Have: have})
	return nil
}

// recall adds the facts of id about the existing bytes to the known facts.
func (p *partial) recall(id partfile.Identity) {
	p.carried.recall(id, p.req)
	p.carried.goesOn, p.carried.answeredBy, p.carried.answered = true, id.Host, id.Date
}

// beginFromBase begins the part file with the useful bytes of the base file. Bytes of an earlier run stay.
func (p *partial) beginFromBase(ctx context.Context) error {
	s := p.req.base
	if s == nil {
		return nil
	}
	p.carried.digests.add(aList, noted, s.identity.Looked) // the server may not answer for them again
	if s.useful.Count() == 0 {
		return nil
	}
	id := s.identity
	if prior, ok := p.part.Prior(); ok && p.carried.goesOn {
		id = prior
	}
	err := p.part.Begin(id)
	if err == nil {
		err = p.part.CheckSpace(id.Size)
	}
	if err == nil {
		err = p.copyBase(ctx, s)
	}
	have := p.part.Have()
	if err != nil {
		p.kept = have.Len()
		return errors.Join(local(err), p.part.Close())
	}
	if !p.carried.goesOn {
		p.recall(id)
	}
	p.carried.known.file, p.result.Resumed = s.file, have.Len()
	if p.carried.asked = s.asked; !p.req.provenByPieces() { // otherwise the pieces of the document stay
		p.carried.pieces, p.carried.piecesFrom = s.pieces, s.from
	}
	p.req.observe(Resumed{Bytes: have.Len(), Have: have})
	return nil
}

// copyBase copies the useful bytes that are not yet in the part file. These bytes are verified like all other bytes,
// because the base file may have changed.
func (p *partial) copyBase(ctx context.Context, s *baseFile) error {
	f, err := openRegular(p.http.files, s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	have := p.part.Have()
	r := newReading(p.req.observe, s.identity.Size, have.Len())
	for useful := range s.useful.All() {
		for gap := range have.Gaps(useful) {
			err := r.copy(ctx, io.NewOffsetWriter(p.part, gap.Start), io.NewSectionReader(f, gap.Start, gap.Len()))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// reaches reports whether bytes beyond end exist.
func (p *partial) reaches(end int64) bool {
	for range p.part.Have().Covered(byterange.Range{Start: end, End: byterange.Unbounded}) {
		return true
	}
	return false
}

// cutOff voids the bytes beyond the end of the file. If end is -1, it voids all bytes, because nothing identifies them.
func (p *partial) cutOff(all *sources, end int64) error {
	for r := range p.part.Have().All() {
		if r.Start = max(r.Start, end); r.Start < r.End {
			p.part.Revoke(r)
			all.void(r)
			p.req.observe(Voided{r})
		}
	}
	if err := p.part.Void(); err != nil {
		return local(err)
	}
	return nil
}

// empty discards the downloaded bytes.
func (p *partial) empty(ctx context.Context) (err error) {
	p.carried.damage.forget()
	if p.req.onDisk() {
		return p.part.Restart()
	}
	if err := p.upload.restart(ctx); err != nil {
		return err
	}
	if err = p.part.Close(); err == nil {
		p.part, err = nameless(p.http.files, p.req.Target)
	}
	return err
}

// commit puts the file in place under its final name.
func (p *partial) commit(ctx context.Context, proof verify.Proof) error {
	switch {
	case p.req.Stream != nil:
		return p.part.Close()
	case p.req.Target != nil:
		return errors.Join(p.part.Close(), p.delivery.commit(ctx, proof))
	case p.upload != nil:
		final := UploadFinal{URL: source.Mask(p.req.URL), Result: *p.result, Replace: p.req.IfExists.Overwrite}
		err := p.upload.commit(ctx, final)
		if errors.Is(err, fs.ErrExist) {
			return p.inTheWay("")
		}
		p.result.Due = p.req.Due && err == nil
		if err != nil {
			return err
		}
		return p.part.Close()
	}
	final := partfile.Final{Replace: p.req.IfExists.Overwrite, ModTime: p.modified(), Due: p.req.Due}
	if p.req.base != nil {
		final.Mode = p.req.base.mode
	}
	id := partfile.IDOf(p.part)
	err := p.part.Commit(proof, final)
	if p.result.Due = final.Due && err == nil; err == nil {
		p.http.placed.add(id)
	}
	return err
}

// judge records whether the next run could resume from the bytes that s left.
func (p *partial) judge(s *session) {
	p.useful = s.facts.mayMerge() && s.end.how != gotDocument
	p.unproven = !p.useful && s.facts.begun && s.end.how != gotDocument
	p.listed = p.unproven && p.http.key != nil && s.part.Front() < s.facts.known.size &&
		tiesLater(s.req, s.facts.identity().Looked)
}

// leave keeps the part file, or the uploaded parts, if the next run can resume, and otherwise discards the bytes. If
// failed is about a signature, it discards uploaded parts, because the next run would check the same signature. It also
// discards uploaded parts that do not have a digest found beside the file, because they cannot be compared with sources.
func (p *partial) leave(failed error) error {
	if p.upload != nil {
		keep := p.useful && p.upload.begun() && kindOfSignature(failed) == Other && !is[*otherFileError](failed) &&
			!outdated(p.upload.recorded(), p.carried.opposed)
		if keep {
			p.kept, p.keptAt = p.upload.released(), p.result.Path
		}
		return errors.Join(p.upload.end(keep, amended(p.req, p.carried)), p.part.Close())
	}
	p.setAside = partfile.SetAside(p.part)
	err := p.keepOpposed()
	if !p.req.hasName() || !p.useful && !p.unproven {
		return errors.Join(err, p.part.Discard())
	}
	err = errors.Join(err, p.part.Close()) // Close may void some bytes
	p.kept, p.keptAt = p.part.Kept()
	if errors.As(err, &p.moved) {
		return nil // explain reports it
	}
	return err
}

// keepOpposed records in the journal what amended adds.
func (p *partial) keepOpposed() error {
	if len(p.carried.opposed) == 0 && !p.carried.takenBack {
		return nil
	}
	if err := p.part.Amend(amended(p.req, p.carried)); err != nil {
		return local(err)
	}
	return nil
}

// modified returns the server's date as the modification time for the file, or zero if the request does not want it.
func (p *partial) modified() time.Time {
	if !p.req.RemoteTime || !p.req.onDisk() {
		return time.Time{}
	}
	t := usable(p.result.LastModified)
	if t.IsZero() {
		why := "no date"
		if date := p.result.LastModified; !date.IsZero() {
			why = "an unusable date, " + date.UTC().Format(time.RFC1123)
		}
		p.req.observe(Note{Text: "the server sent " + why + ", so the file gets the current date", Plain: true})
	}
	return t
}

// heardHint returns a hint if err is about a digest that the server stated only in an earlier run, and otherwise "".
func (p *partial) heardHint(err error) Hint {
	if wrong := wrongOf(err); wrong != nil && p.kept > 0 && slices.Contains(p.carried.digests.used(stands), wrong.Claim) {
		return HintForget
	}
	return ""
}

// explain adds to e the kept bytes and the next step. err is the cause of e.
func (p *partial) explain(e *Error, err error) {
	if e.Kept = p.kept; p.kept > 0 {
		e.Part = cmp.Or(p.keptAt, p.part.Path())
		p.advise(e, err)
	} else {
		e.Aside = p.setAside
	}
	p.explainMoved(e, err)
}

// advise sets the hint of e if bytes were kept.
func (p *partial) advise(e *Error, err error) {
	none, _ := errors.AsType[*NoSourceError](err)
	switch {
	case p.refuted:
		e.Hint = "if you mistyped the digest, correct it and repeat the command, which then uses the received file"
	case p.unproven && !p.listed && e.Kind != Limit && e.Kind != Local: // errors of these kinds need another step first
		e.Hint = cmp.Or(e.Hint, HintUnproven)
	}
	if none != nil && none.Budget() && !p.unproven {
		e.Kind = Budget
	}
}

// explainMoved adds to e that the folder was moved or removed during the download, whatever else happened.
func (p *partial) explainMoved(e *Error, err error) {
	if moved, ok := errors.AsType[*partfile.MovedError](err); ok { // the complete file was moved
		e.Kind, e.Hint = Local, "run the same command to start over"
		if moved.Now != "" {
			e.Hint = "the file is complete: nothing is left to download"
		}
		return
	}
	if p.moved != nil {
		e.Kind, e.Err, e.Hint = Local, fmt.Errorf("%w; %w", e.Err, p.moved), "run the same command to start over"
		if p.kept > 0 {
			e.Hint = HintFolder
		}
	}
}

// continuesUpload checks whether the uploaded parts with the record id are of the requested file. It returns the facts
// that count for this request. See continues for bytes on disk.
func (p *partial) continuesUpload(ctx context.Context, id partfile.Identity) (partfile.Identity, error) {
	id = reinstated(id, p.req)
	if !continuable(p.req, id) {
		return id, errors.New("nothing shows that the rest is from the same file as the received part")
	}
	return (&resumption{partial: p, prior: id, sealed: true}).continues(ctx)
}
