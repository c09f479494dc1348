package metainfo

import (
	"errors"
	"math"
	"strings"

	"braid/metalink"
	"braid/verify"
)

// An entry is a file as the dictionary info has it.
type entry struct {
	path         []string // without the name of the torrent
	size, offset int64
	pad          bool // it only fills up the last piece of what is before it (BEP 47)
	link         bool // a symbolic link (BEP 47)
}

// describe reads the dictionary info.
func (t *Torrent) describe(info map[string]value) error {
	name, pieces := info["name"], info["pieces"]
	t.Name, t.PieceLength, t.Private = name.text, info["piece length"].num, info["private"].num == 1
	switch {
	case info["meta version"].num > 1 && pieces.kind == 0:
		return &Error{What: "torrent", Offset: -1, Why: "it is of version 2 only, which is not supported", Unsupported: true}
	case name.kind != 's' || pieces.kind != 's':
		return fault("its dictionary info has no name or no pieces")
	case t.PieceLength < 1 || t.PieceLength > maxPieceLength:
		return fault("its pieces have %d bytes", t.PieceLength)
	}
	entries, err := t.entries(info)
	if err != nil {
		return err
	}
	size := int64(verify.SHA1.Size())
	if n := int64(len(pieces.text)); n%size != 0 || n/size != (t.Size+t.PieceLength-1)/t.PieceLength {
		return fault("%d bytes of digests for %d bytes in pieces of %d", n, t.Size, t.PieceLength)
	}
	t.all, t.sums = entries, pieces.text
	return t.take(entries, pieces.text, info["length"].kind == 'i')
}

// entries reads the list of files, or the length of the only one, and adds up the sizes.
func (t *Torrent) entries(info map[string]value) (entries []entry, err error) {
	length, files := info["length"], info["files"]
	switch {
	case length.kind == 'i' && files.kind == 0:
		entries = []entry{{size: length.num}}
	case length.kind != 0 || len(files.list) == 0:
		return nil, fault("it says neither the length of one file nor a list of several")
	case len(files.list) > maxFiles:
		return nil, fault("it has more than %d files", maxFiles)
	}
	for _, f := range files.list {
		e := entry{size: f.dict["length"].num}
		for _, part := range f.dict["path"].list {
			e.path = append(e.path, part.text)
			if part.kind != 's' {
				e.path = nil
				break
			}
		}
		if f.dict["length"].kind != 'i' || len(e.path) == 0 {
			return nil, fault("a file without length or path")
		}
		attr := f.dict["attr"].text
		e.pad, e.link = strings.Contains(attr, "p"), strings.Contains(attr, "l")
		entries = append(entries, e)
	}
	for i := range entries {
		e := &entries[i]
		if e.size < 0 || e.size > math.MaxInt64-t.Size-maxPieceLength {
			return nil, fault("a file of %d bytes", e.size)
		}
		e.offset = t.Size
		t.Size += e.size
	}
	return entries, nil
}

// take makes Files of what is no filling and has a safe name.
func (t *Torrent) take(entries []entry, sums string, single bool) error {
	seen := map[string]bool{}
	for i, e := range entries {
		if e.pad {
			continue
		}
		name := t.Name
		if !single {
			name += "/" + strings.Join(e.path, "/")
		}
		if seen[name] {
			return fault("two files are called %s", quote(name)) // rule 44
		}
		seen[name] = true
		err := safe(t.Name, e.path)
		if e.link {
			err = errors.New("it is a symbolic link")
		}
		if err != nil {
			t.Refused = append(t.Refused, metalink.Refused{Name: name, Reason: err.Error()})
			continue
		}
		f := File{File: metalink.File{Name: name, Size: e.size}, Offset: e.offset, parts: e.path}
		pieces, err := t.piecesOf(entries[i:], sums)
		switch {
		case err != nil:
			return err
		case !pieces.IsZero():
			f.Pieces = []verify.Pieces{pieces}
		case f.Size == 0: // there is but one such file
			f.Claims = []verify.Claim{{Digest: emptyDigest(), Field: "torrent"}}
		default:
			if f.Span, err = t.spanOf(f, sums); err != nil {
				return err
			}
		}
		t.Files = append(t.Files, f)
	}
	if len(seen) == 0 {
		return fault("it has no files")
	}
	return nil
}

// safe judges a name by its parts: a slash in one of them would make two of it.
func safe(root string, parts []string) error {
	for _, p := range append([]string{root}, parts...) {
		if strings.Contains(p, "/") {
			return errors.New("a part of the name contains a slash")
		}
		if p == "" {
			return errors.New("a part of the name is empty")
		}
	}
	return metalink.CheckPath(strings.Join(append([]string{root}, parts...), "/"))
}

// piecesOf is the pieces of the first of files, if they are its own: it begins where one begins, and ends where one ends or is
// filled up with zeros.
func (t *Torrent) piecesOf(files []entry, sums string) (verify.Pieces, error) {
	f, n := files[0], verify.SHA1.Size()
	filling := int64(0)
	for _, next := range files[1:] {
		if (f.size+filling)%t.PieceLength == 0 || !next.pad && next.size > 0 {
			break
		}
		filling += next.size // an empty file between them is none
	}
	end := f.offset + f.size + filling
	if f.size == 0 || f.offset%t.PieceLength != 0 || end%t.PieceLength != 0 && end != t.Size || f.size%t.PieceLength+filling > t.PieceLength {
		return verify.Pieces{}, nil
	}
	first := int(f.offset / t.PieceLength)
	digests := make([]verify.Digest, (f.size-1)/t.PieceLength+1)
	for i := range digests {
		var err error
		if digests[i], err = verify.NewDigest(verify.SHA1, []byte(sums[(first+i)*n:(first+i+1)*n])); err != nil {
			return verify.Pieces{}, err
		}
	}
	p, err := verify.NewPieces(f.size, t.PieceLength, digests)
	if err != nil || filling == 0 {
		return p, err
	}
	return p.Padded(filling)
}
