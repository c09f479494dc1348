package metainfo

import (
	"braid/metalink"
	"braid/verify"
)

// Document is t as a document, with web seeds as mirrors, of which none comes before another.
func (t *Torrent) Document() metalink.Document {
	d := metalink.Document{Refused: t.Refused, Warnings: t.Warnings}
	t.Describe(func(f metalink.File) { d.Files = append(d.Files, f) })
	return d
}

// Describe gives take one file of Document after the other.
func (t *Torrent) Describe(take func(metalink.File)) {
	for _, f := range t.Files {
		var mirrors []metalink.Mirror
		for _, u := range t.Mirrors(f) {
			mirrors = append(mirrors, metalink.Mirror{URL: u, Pri: metalink.NoPriority})
		}
		f.Add(mirrors...)
		take(f.File)
	}
}

// emptyDigest is the digest of a file of no bytes.
func emptyDigest() verify.Digest {
	d, err := verify.NewDigest(verify.SHA256, verify.SHA256.New().Sum(nil))
	if err != nil {
		panic(err) // the length is that of the algorithm
	}
	return d
}
