package download

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"braid/internal/fsys"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// resolve finds out what the file should be: from the document of the request, or from its server and what that describes.
func (x *inspection) resolve(ctx context.Context) error {
	err := x.ask(ctx)
	if x.document && err == nil {
		if err = x.follow(ctx); err == nil {
			err = x.ask(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := x.req.readable(); err != nil {
		return err
	}
	if err := x.share(); err != nil {
		return err
	}
	x.readDescriptions(ctx)
	if x.size = x.file.Size; x.mirrorSize && differs(x.size, x.verdict.Size) {
		x.size = -1
	}
	return nil
}

// ask asks the server what the file should be: by HEAD and, if that is refused or has no digest, by GET, as some servers give it on
// one of them only. If a document describes the file no server is asked.
func (x *inspection) ask(ctx context.Context) error {
	if !x.asked() || isFTP(x.req.URL) { // which has no digests to give
		return nil
	}
	q, err := x.req.inquire(ctx, x.http, head, condition{})
	if absent(err) || err == nil && q.nature != aDocument && !verify.Strong(q.file.Claims) {
		byHead := q.file.Claims
		if q, err = x.req.inquire(ctx, x.http, glance, condition{}); err == nil && q.nature != aDocument {
			err = verify.Agree(byHead, q.file.Claims)
		}
		q.file.Claims = join(q.file.Claims, byHead)
	}
	if err == nil {
		x.document = q.nature == aDocument || x.req.inPlace(ctx, x.http, q.answer, cmp.Or(x.verdict.Size, -1))
	}
	if err == nil && !x.document {
		x.answer, x.file = q.answer, q.file
		x.mirrorSize = q.wrong == nil && q.decides()
		err = x.checkAnswer(q.file)
	}
	if err != nil {
		return wrap(err, "verify", &x.req)
	}
	return nil
}

// checkAnswer compares the server's answer with the user's claims, and with what the URL offered before.
func (x *inspection) checkAnswer(file metalink.File) error {
	where := source.Mask(x.req.URL)
	if err := verify.Agree(x.req.Claims, file.Claims); err != nil {
		return fail(Mismatch, "verify", where, err, "the server has another file than the one that was asked for")
	}
	if d := x.req.Described; d != nil && differs(d.Size, file.Size) {
		return fail(Mismatch, "verify", where, fmt.Errorf("the file has %d bytes there, and %d in %s", file.Size, d.Size, d.By), "")
	}
	if x.req.Described == nil {
		if err := x.c.checkPin(&x.req, pinOf(file)); err != nil {
			return err
		}
		x.req.observe(Offered{File: file})
	}
	return nil
}

// follow reads the document that the server answered with in place of the file.
func (x *inspection) follow(ctx context.Context) error {
	x.document = false
	d, err := documentInPlace(ctx, x.http, &x.req)
	if err != nil {
		return err
	}
	f, err := d.fileFor(x.req)
	if err != nil {
		return err
	}
	req, err := d.Describe(f, x.req)
	if err == nil {
		req.Described.Notes = slices.Concat(d.Warnings, d.Notes, req.Described.Notes)
		x.req = req
	}
	return err
}

// readDescriptions reads what the document of the request and what the server describes: for signatures, and until one has pieces.
func (x *inspection) readDescriptions(ctx context.Context) {
	x.claims = join(x.req.Claims, x.file.Claims)
	v := &x.verdict
	if d := x.req.Described; d != nil {
		x.file.Size, x.file.Documents = max(x.file.Size, d.Size), d.Torrents
		v.Pieces, v.PiecesFrom = d.Pieces, d.By
		x.req.reportDescribed()
	}
	for v.Pieces.IsZero() {
		t, ok := x.carried.readNext(ctx, x.http, &x.req, x.file, x.claims, vouched(x.claims))
		if !ok {
			return
		}
		x.file, x.claims = t.file, join(x.claims, t.file.Claims)
		if p := t.file.BestPieces(); x.file.Size < 0 && !p.IsZero() && p.Size() != v.Size { // of a torrent, which proves nothing
			x.req.note("%s has pieces of a file of %d bytes, not %d: they are not used", t.from, p.Size(), v.Size)
			continue
		}
		v.Pieces, v.PiecesFrom = t.file.BestPieces(), t.from
	}
}

// read reads the file once, and makes of it all that is to be compared.
func (x *inspection) read(ctx context.Context, f fsys.File, signatures []verify.SignatureChecker) (verify.Proof, error) {
	v := &x.verdict
	check := verify.NewChecker(x.size, x.claims, signatures...)
	if c := x.req.byPieces(); !c.Pieces.IsZero() && len(x.beside.missing) == 0 {
		check.ByPieces(c)
	}
	pieces := verify.NewPieceComparer(v.Pieces)
	most := v.Size
	if x.size >= 0 {
		most = min(most, x.size)
	}
	if err := newReading(x.req.observe, most, 0).copy(ctx, io.MultiWriter(check, pieces), io.NewSectionReader(f, 0, most)); err != nil {
		return verify.Proof{}, err
	}
	v.Damaged, x.unchecked = x.beside.judge(v.Pieces, pieces.Wrong(), v.PiecesFrom)
	if differs(x.size, v.Size) {
		return verify.Proof{}, &verify.SizeError{Got: v.Size, Want: x.size}
	}
	return check.Proof()
}
