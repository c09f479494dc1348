package download

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// A documentResult is what a document says of the file.
type documentResult struct {
	doc  metalink.MetaURL
	file metalink.File
	from string // masked
	err  error  // why it is of no use
}

// leastPieces is the size of a file for which a document with pieces is worth a request.
const leastPieces = 8 << 20

// nextDocument is the document that is to be asked for pieces next: Metalink/XML says more than a torrent.
func (p *carried) nextDocument(f metalink.File) (metalink.MetaURL, bool) {
	for _, find := range []func(metalink.File) (metalink.MetaURL, bool){metalinkOf, torrentOf} {
		if doc, ok := find(f); ok && !slices.Contains(p.asked, doc.URL.String()) {
			return doc, true
		}
	}
	return metalink.MetaURL{}, false
}

// metalinkOf is the first Metalink/XML document about a file.
func metalinkOf(f metalink.File) (metalink.MetaURL, bool) {
	for _, d := range f.Documents {
		if metalink.IsMediaType(d.Type) && isWeb(d.URL) {
			return d, true
		}
	}
	return metalink.MetaURL{}, false
}

// describedBy fetches a document and adds what it says to what the header fields said.
func describedBy(ctx context.Context, hc network, doc metalink.MetaURL, opts httpsource.Options,
	file metalink.File, claims []verify.Claim) documentResult {
	t := documentResult{doc: doc, from: source.Mask(doc.URL)}
	data, a, err := fetchSmall(ctx, hc, doc.URL, opts, metalink.MaxSize)
	if err != nil {
		t.err = err
		return t
	}
	if isTorrent(doc) {
		t.file, t.err = withTorrent(data, doc.Name, file, claims)
		return t
	}
	d, err := metalink.Read(bytes.NewReader(data))
	if err != nil {
		t.err = err
		return t
	}
	d.From(channelOf(a), fromOf(a))
	t.file, t.err = mergeDocument(d, doc.Name, file, claims)
	return t
}

// mergeDocument finds the file in a document, and wants the document to mean the same file: it has to give the digest
// of the whole that is known already (rules 40 and 46).
func mergeDocument(d metalink.Document, name string, file metalink.File, claims []verify.Claim) (metalink.File, error) {
	f, ok := fileOf(d, name)
	if !ok {
		return file, errors.New("it does not say which of its files this is")
	}
	said := f.Claims
	if err := verify.Agree(claims, said); err != nil {
		return file, err
	}
	if f.Malformed != nil && len(said) == 0 {
		return file, f.Malformed
	}
	if !verify.Strong(common(claims, said)) {
		return file, errors.New("it has no SHA-256 or better that is known of the file")
	}
	return metalink.Merge(file, f)
}

// fileOf is the file of a document that is meant: that of the name or, if there is no other, the only one.
func fileOf(d metalink.Document, name string) (metalink.File, bool) {
	for _, f := range d.Files {
		if f.Name == name && name != "" {
			return f, true
		}
	}
	if len(d.Files) == 1 && name == "" {
		return d.Files[0], true
	}
	return metalink.File{}, false
}

// channelOf is how an answer came.
func channelOf(a source.Answer) verify.Channel {
	for _, h := range a.Hops { // what is behind an answer over http, anybody may have named
		if !h.Proven() {
			return verify.HTTP
		}
	}
	if len(a.Hops) == 0 {
		return verify.HTTP
	}
	return verify.HTTPS
}
