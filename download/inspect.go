package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"braid/address"
	"braid/byterange"
	"braid/internal/edges"
	"braid/internal/fsys"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/verify"
)

// resolve finds out what the file should be: from the document of the request, or from the server of its URL and the
// documents that the server names.
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
	if err := x.lookUp(ctx, x.file); err != nil {
		return err
	}
	if x.size = x.file.Size; x.mirrorSize && differs(x.size, x.verdict.Size) {
		x.size = -1
	}
	return nil
}

// ask asks the server what the file should be: by HEAD and, if HEAD is refused or has no digest, by GET, because some
// servers give digests for one method only. If a document describes the file, no server is asked.
func (x *inspection) ask(ctx context.Context) error {
	if !x.asked() || address.SchemeOf(x.req.URL).NoDigests {
		return nil
	}
	q, err := inquire(ctx, x.http, &x.req, head, condition{}, neverSpoke)
	if source.Refused(err) || err == nil && q.nature != aDocument && !verify.Strong(q.file.Claims) {
		byHead, told := q.file.Claims, q.asked
		if q, err = inquire(ctx, x.http, &x.req, glance, condition{}, neverSpoke); err == nil && q.nature != aDocument {
			err = verify.Agree(byHead, q.file.Claims)
		}
		q.file.Claims, q.asked = join(q.file.Claims, byHead), join(q.asked, told)
	}
	if err == nil {
		x.document = q.nature == aDocument || inPlace(ctx, x.http, &x.req, q.answer, cmp.Or(x.verdict.Size, -1))
	}
	if err == nil && !x.document {
		x.answer, x.file, x.told = q.answer, q.file, q.asked
		x.mirrorSize = q.wrong == nil && q.decides()
		err = x.checkAnswer(ctx, q.resolution)
	}
	if err != nil {
		return wrap(err, "verify", &x.req)
	}
	return nil
}

// checkAnswer compares said, the server's answer, with the user's claims, and with the earlier offers of the URL.
func (x *inspection) checkAnswer(ctx context.Context, said resolution) (err error) {
	where := source.Mask(x.req.URL)
	if err := verify.Agree(x.req.Trust.Claims, said.file.Claims); err != nil {
		return fail(Mismatch, "verify", where, err, hintOtherFile)
	}
	if d := x.req.Described; d != nil && differs(d.Size, said.file.Size) {
		return fail(Mismatch, "verify", where,
			fmt.Errorf("the file has %d bytes there, but %d in %s", said.file.Size, d.Size, d.By), "")
	}
	if x.req.Described == nil {
		if said, err = x.c.checkBoth(ctx, x.http, &x.req, said, pinOf, glance); err != nil {
			return err
		}
		x.file, x.told = said.file, said.asked
		x.req.observe(Offered{File: x.file})
	}
	return nil
}

// follow reads the document that the server sent in place of the file.
func (x *inspection) follow(ctx context.Context) (err error) {
	x.document = false
	x.req, err = describedInPlace(ctx, x.http, &x.req, (*Document).Describe)
	return err
}

// readDescriptions reads the document of the request. Then it reads documents that the server names, until one document
// has the pieces of the file.
func (x *inspection) readDescriptions(ctx context.Context) {
	x.claims = join(x.req.Trust.Claims, x.file.Claims)
	v := &x.verdict
	if d := x.req.Described; d != nil {
		x.file.Size, x.file.Documents = max(x.file.Size, d.Size), d.Torrents
		v.Pieces, v.PiecesFrom = d.Pieces, d.By
		reportDescribed(&x.req)
	}
	for v.Pieces.IsZero() {
		t, ok := x.carried.readNext(ctx, x.http, &x.req, x.file, x.claims, vouched(x.claims))
		if !ok {
			return
		}
		x.file, x.claims = t.file, join(x.claims, t.file.Claims)
		// A torrent's size proves nothing.
		if p := t.file.BestPieces(); x.file.Size < 0 && !p.IsZero() && p.Size() != v.Size {
			x.req.note("%s has pieces for a file of %d bytes, but the file has %d: not used", t.from, p.Size(), v.Size)
			continue
		}
		v.Pieces, v.PiecesFrom = t.file.BestPieces(), t.from
	}
}

// lookInstead looks for a signed list beside the file if no trusted key made a signature that server or document name.
func (x *inspection) lookInstead(ctx context.Context) error {
	if len(x.verdict.Looked.Places) > 0 || !wantsList(&x.req, x.found) {
		return nil
	}
	return x.lookUp(ctx, metalink.File{})
}

// lookUp looks for digests that are published beside the file. file is the description of the file.
func (x *inspection) lookUp(ctx context.Context, file metalink.File) (err error) {
	x.verdict.Looked, err = lookUp(ctx, x.http, &x.req, x.answer.Hops, file, join(x.req.Trust.Claims, x.told), x.claims)
	x.claims = join(x.claims, join(x.verdict.Looked.Claims, x.verdict.Looked.Weak))
	if is[*verify.ConflictError](err) && !is[*Error](err) {
		return fail(Protocol, "verify", source.Mask(x.req.URL), err, HintNoLookup)
	}
	return err
}

// read reads the file once. It compares the digests, pieces and signatures, and returns the proof.
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
	if err := newReading(x.req.observe, most, 0).copy(ctx, io.MultiWriter(check, pieces),
		io.NewSectionReader(f, 0, most)); err != nil {
		return verify.Proof{}, err
	}
	v.Damaged, x.unchecked = x.beside.judge(v.Pieces, pieces.Wrong(), v.PiecesFrom)
	if differs(x.size, v.Size) {
		return verify.Proof{}, &verify.SizeError{Got: v.Size, Want: x.size}
	}
	return check.Proof()
}

// neighbours are the files of a torrent that share the first or the last piece of the checked file. Neighbours are read
// from disk, in the same folders relative to the checked file as in the torrent. No server is asked for their bytes.
type neighbours struct {
	names   map[int][]string // a few names of the neighbours in piece i of the file
	missing map[int]string   // name of a neighbour that is missing or incomplete, so that piece i cannot be checked
}

// share adds the pieces that the file shares with its neighbours to the description of the file.
func (x *inspection) share() error {
	if !x.req.spans() {
		return nil
	}
	s := x.req.Described.sharing
	x.beside = neighbours{map[int][]string{}, map[int]string{}}
	list, err := edges.Whole(s.torrent, s.file, func(i int) ([]byte, error) { return x.edge(s, i) })
	if err != nil {
		return fmt.Errorf("the pieces that the file shares with other files: %w", err)
	}
	x.described = x.req.Described
	d := *x.described
	d.Pieces = list
	x.req.Described = &d
	return nil
}

// edge returns piece i of the torrent from the neighbours on disk. The bytes of the checked file are zero. Missing
// bytes of neighbours are also zero, and are recorded.
func (x *inspection) edge(s *sharing, i int) ([]byte, error) {
	n := s.torrent.PieceLength
	at := i - int(s.file.Offset/n)
	data := make([]byte, min(n, s.torrent.Size-int64(i)*n))
	parts, _, err := s.torrent.Piece(i)
	if err != nil {
		x.beside.missing[at] = "a file with an unsafe name"
		return data, nil
	}
	rest := data
	for _, p := range parts {
		mine := rest[:p.End-p.Start]
		rest = rest[len(mine):]
		if p.Zeros || p.File.Offset == s.file.Offset {
			continue
		}
		name := source.Escape(p.File.Name)
		if all := x.beside.names; len(all[at]) < mostNames {
			all[at] = append(all[at], name)
		}
		if err := readPart(x.http.files, s.beside(x.verdict.Path, p.File), p, mine); err != nil {
			x.beside.missing[at] = cmp.Or(x.beside.missing[at], name+", which is not beside this file")
		}
	}
	return data, nil
}

// readPart reads p, a part of a piece, into b from the file at path, if the file has the size that the torrent states.
func readPart(files fsys.FS, path string, p metainfo.Part, b []byte) error {
	f, err := openRegular(files, path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Info()
	switch {
	case err != nil:
		return err
	case info.Size != p.File.Size:
		return &verify.SizeError{Got: info.Size, Want: p.File.Size}
	}
	_, err = f.ReadAt(b, p.Start)
	if err == io.EOF {
		err = nil
	}
	return err
}

// beside returns the path of another file of the torrent, in the same place relative to file as in the torrent. It is
// empty if the folders of file have other names than in the torrent.
func (s *sharing) beside(file string, other metainfo.File) string {
	dir := filepath.Dir(file)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	folders := func(name string) []string {
		return strings.FieldsFunc(path.Dir(name), func(r rune) bool { return r == '/' })
	}
	own, to := folders(s.file.Name), folders(other.Name)
	for len(own) > 0 && len(to) > 0 && own[0] == to[0] {
		own, to = own[1:], to[1:]
	}
	for _, name := range slices.Backward(own) {
		if filepath.Base(dir) != name {
			return ""
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Join(append(append([]string{dir}, to...), path.Base(other.Name))...)
}

// suspects adds to err, if it is about a wrong piece, the names of neighbours in that piece: one may be damaged instead.
func (n *neighbours) suspects(err error) error {
	if e, ok := errors.AsType[*verify.PieceError](err); ok && len(n.names[e.Piece]) > 0 {
		return fmt.Errorf("%w; possibly %s beside it is damaged instead", err, strings.Join(n.names[e.Piece], " or "))
	}
	return err
}

// judge returns the ranges of wrong pieces, and an error about the pieces that cannot be checked.
func (n *neighbours) judge(p verify.Pieces, wrong []int, from string) (damaged byterange.Set, unchecked *uncheckedError) {
	for i, with := range n.missing {
		if unchecked == nil {
			unchecked = &uncheckedError{from: from}
		}
		start, end := p.At(i)
		unchecked.ranges.Add(byterange.Range{Start: start, End: end})
		unchecked.with = append(unchecked.with, with)
	}
	for _, i := range wrong {
		if _, missing := n.missing[i]; !missing {
			start, end := p.At(i)
			damaged.Add(byterange.Range{Start: start, End: end})
		}
	}
	return damaged, unchecked
}

// An uncheckedError is the error of bytes in pieces that cannot be checked.
type uncheckedError struct {
	ranges byterange.Set
	with   []string
	from   string
}

func (e *uncheckedError) Error() string {
	slices.Sort(e.with)
	return fmt.Sprintf("bytes %v were not checked: their pieces in %s also cover %s", e.ranges, e.from,
		strings.Join(slices.Compact(e.with), ", and "))
}
