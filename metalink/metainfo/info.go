package metainfo

import (
	"errors"
	"math"
	"strings"

	"braid/metalink"
	"braid/verify"
)

// An entry is a file in the info dictionary.
type entry struct {
	path         []string // without the torrent's name
	size, offset int64
	pad          bool // padding after the previous file (BEP 47)
	link         bool // a symbolic link (BEP 47)
}

// describe reads the info dictionary into t.
func (t *Torrent) describe(info map[string]value) error {
	name, pieces := info["name"], info["pieces"]
	t.Name, t.PieceLength, t.Private = name.text, info["piece length"].num, info["private"].num == 1
	switch {
	case info["meta version"].num > 1 && pieces.kind == 0:
		return &Error{What: "torrent", Offset: -1, Why: "it is of version 2 only, which is not supported", Unsupported: true}
	case name.kind != 's' || pieces.kind != 's':
		return fault("its dictionary info has no name or no pieces")
	case t.PieceLength < 1 || t.PieceLength > maxPieceLength:
		return fault("its piece length is out of range: %d", t.PieceLength)
	}
	entries, err := t.entries(info)
	if err != nil {
		return err
	}
	size := int64(verify.SHA1.Size())
	if n := int64(len(pieces.text)); n%size != 0 || n/size != (t.Size+t.PieceLength-1)/t.PieceLength {
		return fault("its digests have %d bytes, which does not fit %d bytes of files in pieces of %d", n, t.Size, t.PieceLength)
	}
	t.all, t.sums = entries, pieces.text
	return t.take(entries, pieces.text, info["length"].kind == 'i')
}

// entries reads the list of files, or the length of a single file, and sets Size to the total size.
func (t *Torrent) entries(info map[string]value) (entries []entry, err error) {
	length, files := info["length"], info["files"]
	switch {
	case length.kind == 'i' && files.kind == 0:
		entries = []entry{{size: length.num}}
	case length.kind != 0 || len(files.list) == 0:
		return nil, fault("it has neither the length of one file nor a list of files")
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
			return nil, fault("a file has no length or no path")
		}
		attr := f.dict["attr"].text
		e.pad, e.link = strings.Contains(attr, "p"), strings.Contains(attr, "l")
		entries = append(entries, e)
	}
	for i := range entries {
		e := &entries[i]
		if e.size < 0 || e.size > math.MaxInt64-t.Size-maxPieceLength {
			return nil, fault("the size of a file is out of range: %d", e.size)
		}
		e.offset = t.Size
		t.Size += e.size
	}
	return entries, nil
}

// take adds all entries to Files, except padding and files with unsafe names.
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
		case f.Size == 0: // an empty file has no pieces, but a known digest
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

// safe returns an error if the path of a file is unsafe. It checks the elements first, because an element with a slash
// would become two elements.
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

// piecesOf returns the pieces of the first file in files, if the file shares no piece with another file. The file must
// begin at the beginning of a piece, and end at the end of a piece or be padded with zeros.
func (t *Torrent) piecesOf(files []entry, sums string) (verify.Pieces, error) {
	f, n := files[0], verify.SHA1.Size()
	filling := int64(0)
	for _, next := range files[1:] {
		if (f.size+filling)%t.PieceLength == 0 || !next.pad && next.size > 0 {
			break
		}
		filling += next.size // an empty file is no padding
	}
	end := f.offset + f.size + filling
	if f.size == 0 || f.offset%t.PieceLength != 0 || end%t.PieceLength != 0 && end != t.Size ||
		f.size%t.PieceLength+filling > t.PieceLength {
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
