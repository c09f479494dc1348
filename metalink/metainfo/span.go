package metainfo

import (
	"errors"

	"braid/metalink"
	"braid/verify"
)

// spanOf returns all pieces that overlap f. The first and the last piece may contain bytes of other files.
func (t *Torrent) spanOf(f File, sums string) (verify.Pieces, error) {
	n := verify.SHA1.Size()
	first, last := int(f.Offset/t.PieceLength), int((f.Offset+f.Size-1)/t.PieceLength)
	digests := make([]verify.Digest, last-first+1)
	for i := range digests {
		var err error
		if digests[i], err = verify.NewDigest(verify.SHA1, []byte(sums[(first+i)*n:(first+i+1)*n])); err != nil {
			return verify.Pieces{}, err
		}
	}
	return verify.NewSpan(f.Size, t.PieceLength, f.Offset%t.PieceLength, digests)
}

// A Part is the part of a piece that belongs to one file.
type Part struct {
	File       File
	Start, End int64 // range in the file
	Zeros      bool  // padding: all bytes are zero (BEP 47)
}

// ErrUnnamed reports that a piece contains bytes of a file in Refused.
var ErrUnnamed = errors.New("a file of the torrent with an unsafe name is not requested")

// Piece returns the parts of piece i in order, and its digest.
func (t *Torrent) Piece(i int) (parts []Part, want verify.Digest, err error) {
	n := verify.SHA1.Size()
	if i < 0 || i >= len(t.sums)/n {
		return nil, want, errors.New("no such piece")
	}
	start := int64(i) * t.PieceLength
	end := min(start+t.PieceLength, t.Size)
	for _, e := range t.all {
		from, to := max(start, e.offset), min(end, e.offset+e.size)
		if from >= to {
			continue
		}
		p := Part{File: File{File: metalink.File{Size: e.size}, Offset: e.offset}, Start: from - e.offset,
			End: to - e.offset, Zeros: e.pad}
		for _, f := range t.Files {
			if f.Offset == e.offset && f.Size == e.size {
				p.File = f
			}
		}
		if p.File.Name == "" && !p.Zeros {
			return nil, want, ErrUnnamed
		}
		parts = append(parts, p)
	}
	want, err = verify.NewDigest(verify.SHA1, []byte(t.sums[i*n:(i+1)*n]))
	return parts, want, err
}
