package metalink

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"

	"braid/verify"
)

// A pieceList is a list of piece digests while it is read.
type pieceList struct {
	line   int
	alg    verify.Algorithm
	length int64
	pieces []piece
	bad    string // why the list cannot be used
}

type piece struct {
	number int64
	digest verify.Digest
}

// pieces reads a list of pieces (RFC 5854, section 4.1.3). An invalid list is ignored with a warning and does not
// invalidate the file (rule 42), because the digest of the whole file is decisive.
func (f *fileReader) pieces(e xml.StartElement, space string) error {
	l := pieceList{line: f.line}
	var ok bool
	if l.alg, ok = verify.ParseAlgorithm(trim(attr(e, "type"))); !ok {
		l.bad = fmt.Sprintf("their algorithm %s is not known", quote(attr(e, "type")))
		if trim(attr(e, "type")) == "" {
			l.bad = "they have no type, which names their algorithm"
		}
	}
	length, err := number(trim(attr(e, "length")))
	if l.length = length; err != nil {
		l.bad = fmt.Sprintf("their length %s is not a number of bytes", quote(attr(e, "length")))
	}
	err = f.children(func(e xml.StartElement) error {
		if e.Name.Space != space || e.Name.Local != "hash" {
			return f.skip()
		}
		text, err := f.text()
		l.add(attr(e, "piece"), text)
		return err
	})
	if l.bad == "" && len(f.lists) == maxPieceLists {
		l.bad = fmt.Sprintf("more than %d lists", maxPieceLists)
	}
	if l.bad != "" {
		f.warnPieces(l.bad)
		return err
	}
	f.lists = append(f.lists, l)
	return err
}

func (f *fileReader) warnPieces(why string) {
	f.warn("pieces of " + quote(f.file.Name) + " ignored: " + why)
}

// add adds the digest text. number3 is the number of the piece, which only Metalink 3 states.
func (l *pieceList) add(number3, text string) {
	if l.bad != "" {
		return
	}
	p := piece{number: int64(len(l.pieces))}
	d, err := verify.ParseHex(l.alg, text)
	if err == nil && number3 != "" {
		p.number, err = number(trim(number3))
	}
	if err != nil {
		l.bad, l.pieces = fmt.Sprintf("%s: %v", quote(text), err), nil
		return
	}
	p.digest = d
	l.pieces = append(l.pieces, p)
}

// finish returns the pieces of a file with this size, or the reason why the list is invalid.
func (l *pieceList) finish(size int64) (verify.Pieces, string) {
	if size < 0 {
		return verify.Pieces{}, "the size of the file is not known"
	}
	slices.SortStableFunc(l.pieces, func(a, b piece) int { return cmp.Compare(a.number, b.number) })
	digests := make([]verify.Digest, len(l.pieces))
	for i, p := range l.pieces {
		if p.number != int64(i) {
			return verify.Pieces{}, fmt.Sprintf("piece %d is missing or appears twice", i)
		}
		digests[i] = p.digest
	}
	pieces, err := verify.NewPieces(size, l.length, digests)
	if err != nil {
		return verify.Pieces{}, err.Error()
	}
	return pieces, ""
}

// finishPieces adds the valid lists to the file, after the size of the file is known.
func (f *fileReader) finishPieces() error {
	for _, l := range f.lists {
		f.line = l.line
		pieces, bad := l.finish(f.file.Size)
		if bad != "" {
			f.warnPieces(bad)
			continue
		}
		if err := f.takePieces(pieces); err != nil {
			return err
		}
	}
	return nil
}

// takePieces adds pieces. It returns an error if they contradict other pieces or the digest of the file (rule 42).
func (f *fileReader) takePieces(pieces verify.Pieces) error {
	for _, have := range f.file.Pieces {
		if have == pieces {
			return nil
		}
		if have.Algorithm() == pieces.Algorithm() && have.Length() == pieces.Length() {
			return fault(Conflict, "two lists differ in the %v of its pieces", pieces.Algorithm())
		}
	}
	for _, c := range f.file.Claims {
		d := c.Digest
		if pieces.Count() == 1 && d.Algorithm() == pieces.Algorithm() && d != pieces.Digest(0) {
			return fault(Conflict, "its %v is %s, but its only piece has %s", d.Algorithm(), d.Hex(), pieces.Digest(0).Hex())
		}
	}
	f.file.Pieces = append(f.file.Pieces, pieces)
	return nil
}

// BestPieces returns the pieces of the strongest algorithm, and of several lists of that algorithm the list with the
// shortest pieces. It returns the zero value if f has no pieces.
func (f File) BestPieces() verify.Pieces {
	if len(f.Pieces) == 0 {
		return verify.Pieces{}
	}
	return slices.MinFunc(f.Pieces, strongestPieces)
}
