package metainfo

import (
	"braid/metalink"
	"braid/verify"
)

// Document returns the description of the files of t. Web seeds are mirrors of equal priority.
func (t *Torrent) Document() metalink.Document {
	d := metalink.Document{Refused: t.Refused, Warnings: t.Warnings}
	t.Describe(func(f metalink.File) { d.Files = append(d.Files, f) })
	return d
}

// Describe calls take with each file that Document returns, without collecting the files.
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

// emptyDigest returns the digest of an empty file.
func emptyDigest() verify.Digest {
	d, err := verify.NewDigest(verify.SHA256, verify.SHA256.New().Sum(nil))
	if err != nil {
		panic(err) // cannot happen: the length is correct
	}
	return d
}
