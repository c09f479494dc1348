package metainfo

import (
	"braid/metalink"
	"braid/metalink/meta4"
	"braid/verify"
)

// Document is what t says in the words of a Metalink document: names, sizes, pieces, and web seeds as mirrors, of which none
// comes before another.
func (t *Torrent) Document() meta4.Document {
	d := meta4.Document{Warnings: t.Warnings}
	for _, r := range t.Refused {
		d.Refused = append(d.Refused, meta4.Refused{Name: r.Name, Reason: r.Reason})
	}
	for _, f := range t.Files {
		file := meta4.File{Name: f.Name, Size: f.Size}
		if !f.Pieces.IsZero() {
			file.Pieces = []verify.Pieces{f.Pieces}
		}
		if f.Size == 0 { // there is but one such file
			file.Hashes = []verify.Digest{emptyDigest()}
		}
		for _, u := range t.Mirrors(f) {
			file.Mirrors = append(file.Mirrors, metalink.Mirror{URL: u, Pri: meta4.NoPriority})
		}
		d.Files = append(d.Files, file)
	}
	return d
}

// emptyDigest is the digest of a file of no bytes.
func emptyDigest() verify.Digest {
	d, err := verify.NewDigest(verify.SHA256, verify.SHA256.New().Sum(nil))
	if err != nil {
		panic(err) // the length is that of the algorithm
	}
	return d
}
