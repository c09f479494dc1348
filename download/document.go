package download

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"braid/address"
	"braid/internal/edges"
	"braid/internal/small"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/verify"
)

// A documentResult is the result of reading a document about the file.
type documentResult struct {
	doc  metalink.MetaURL
	file metalink.File
	from string // masked
	err  error  // why the document is not used
}

// leastPieces is the least file size that makes a document with pieces worth a request.
const leastPieces = 8 << 20

// nextDocument returns a document in f that was not read yet. Metalink/XML, which has more than a torrent, comes first.
func (p *carried) nextDocument(f metalink.File) (metalink.MetaURL, bool) {
	for _, find := range []func(metalink.File) (metalink.MetaURL, bool){metalinkOf, torrentOf} {
		if doc, ok := find(f); ok && !slices.Contains(p.asked, doc.URL.String()) {
			return doc, true
		}
	}
	return metalink.MetaURL{}, false
}

// readNext fetches the documents that were not read yet, one after another, until one can be used. It reports false if
// no document can be used.
func (p *carried) readNext(ctx context.Context, hc network, r *Request, file metalink.File, claims []verify.Claim,
	trusted bool) (documentResult, bool) {
	for {
		doc, ok := p.nextDocument(file)
		if !ok {
			return documentResult{}, false
		}
		p.asked = append(p.asked, doc.URL.String())
		t := describedBy(ctx, hc, r, doc, file, claims, trusted)
		if t.err == nil {
			return t, true
		}
		r.note("%s is not used: %v", t.from, t.err)
	}
}

// metalinkOf returns the first Metalink/XML document that f names.
func metalinkOf(f metalink.File) (metalink.MetaURL, bool) {
	for _, d := range f.Documents {
		if metalink.IsMediaType(d.Type) && isWeb(d.URL) {
			return d, true
		}
	}
	return metalink.MetaURL{}, false
}

// describedBy fetches doc and adds its statements to file, the description of the file by header fields.
func describedBy(ctx context.Context, hc network, r *Request, doc metalink.MetaURL, file metalink.File,
	claims []verify.Claim, trusted bool) documentResult {
	t := documentResult{doc: doc, from: source.Mask(doc.URL)}
	ctx, release := small.WithSlot(ctx, doc.URL)
	defer release()
	data, a, err := hc.small(ctx, doc.URL, r.optionsFor(doc.URL, r.namedBy(doc.URL, doc.By), trusted), metalink.MaxSize)
	if err != nil {
		t.err = err
		return t
	}
	if isTorrent(doc) {
		t.file, t.err = withTorrent(data, doc.Name, file, claims)
		return t
	}
	d := &Document{Over: channelOf(a), by: fromOf(a)}
	if _, err := metalink.Scan(bytes.NewReader(data), d.add); err != nil {
		t.err = err
		return t
	}
	t.file, t.err = mergeDocument(d, doc.Name, file, claims)
	return t
}

// mergeDocument adds the description in d to file. The document must have the known strong digest of the file. Its other
// digests are trusted no more than the known digest, because the party that gave the known digest also named the document.
func mergeDocument(d *Document, name string, file metalink.File, claims []verify.Claim) (metalink.File, error) {
	f, ok := d.fileCalled(name)
	if !ok {
		return file, errors.New("the document does not show which of its files this is")
	}
	own := f.Claims
	if err := verify.Agree(claims, own); err != nil {
		return file, err
	}
	if f.Malformed != nil && len(own) == 0 {
		return file, f.Malformed
	}
	tie := common(own, claims)
	if !verify.Strong(tie) {
		return file, errors.New("no digest (SHA-256 or better) is known both from the document and from elsewhere")
	}
	f.Claims = within(own, channelOfClaims(tie))
	return metalink.Merge(file, f)
}

// within returns claims with channels that are trusted no more than most.
func within(claims []verify.Claim, most verify.Channel) []verify.Claim {
	claims = slices.Clone(claims)
	for i := range claims {
		claims[i].Channel = min(claims[i].Channel, most)
	}
	return claims
}

// channelOfClaims returns the most trusted channel of the strong claims.
func channelOfClaims(claims []verify.Claim) (best verify.Channel) {
	for _, c := range claims {
		if c.Digest.Algorithm().Strong() {
			best = max(best, c.Channel)
		}
	}
	return best
}

// fileCalled returns the file of that name or, if name is empty, the only file.
func (d *Document) fileCalled(name string) (metalink.File, bool) {
	if name != "" {
		return d.fileNamed(name)
	}
	if d.Files.Len() == 1 {
		return d.Files.At(0), true
	}
	return metalink.File{}, false
}

// fileNamed returns the file of that name.
func (d *Document) fileNamed(name string) (metalink.File, bool) {
	for i := range d.Files.Len() {
		if d.Files.Name(i) == name {
			return d.Files.At(i), true
		}
	}
	return metalink.File{}, false
}

// channelOf returns HTTPS if all answers of a chain came from servers with a checked certificate, and otherwise HTTP.
func channelOf(a source.Answer) verify.Channel {
	for _, h := range a.Hops { // an attacker may have changed the target of a redirect over http
		if !h.Proven() {
			return verify.HTTP
		}
	}
	if len(a.Hops) == 0 {
		return verify.HTTP
	}
	return verify.HTTPS
}

// torrentOf returns the first torrent that f names.
func torrentOf(f metalink.File) (metalink.MetaURL, bool) {
	for _, d := range f.Documents {
		if isTorrent(d) && isWeb(d.URL) {
			return d, true
		}
	}
	return metalink.MetaURL{}, false
}

func isTorrent(d metalink.MetaURL) bool { return d.Type == metalink.Torrent }

// withTorrent adds the digests of pieces in a torrent to file. These SHA-1 digests locate damage, and are used only if
// a strong digest of the whole file is known.
func withTorrent(data []byte, name string, file metalink.File, claims []verify.Claim) (metalink.File, error) {
	t, err := metainfo.Parse(bytes.NewReader(data))
	if err != nil {
		return file, err
	}
	f, ok := inTorrent(t, name)
	switch {
	case !verify.Strong(claims):
		return file, errors.New("no digest of the file (SHA-256 or better) is known")
	case !ok:
		return file, errors.New("the document does not show which of its files this is")
	case differs(f.Size, file.Size):
		return file, fmt.Errorf("the file has %d bytes there, not %d", f.Size, file.Size)
	case len(f.Pieces) == 0:
		return file, errors.New("the pieces of this file also cover other files")
	}
	file.Pieces = f.Pieces
	return file, nil
}

// inTorrent returns the file of that name, with or without the torrent's folder, or, if name is empty, the only file.
func inTorrent(t metainfo.Torrent, name string) (metainfo.File, bool) {
	for _, f := range t.Files {
		if name == f.Name || name == f.Path() {
			return f, true
		}
	}
	if len(t.Files) == 1 && name == "" {
		return t.Files[0], true
	}
	return metainfo.File{}, false
}

// parseDocument reads a Metalink document, or a torrent if its name or its first bytes are a torrent's. The document
// came over the channel over, from a server in the scope by.
func parseDocument(r io.Reader, name string, over verify.Channel, by address.Scope) (*Document, error) {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(2); !IsTorrent(name) && !metainfo.Looks(head) {
		d := &Document{Over: over, by: by}
		m, err := metalink.Scan(b, d.add)
		if err != nil {
			return nil, err
		}
		d.Refused, d.Warnings, d.Origin, d.Dynamic = m.Refused, m.Warnings, m.Origin, m.Dynamic
		return d, nil
	}
	t, err := metainfo.Parse(b)
	if err != nil {
		return nil, err
	}
	return torrentDocument(t, over, by), nil
}

// add adds f to the document while the document is read.
func (d *Document) add(f metalink.File) {
	f.From(d.Over, d.by)
	d.Files.Add(f)
}

// torrentDocument returns a torrent as a document that came over the channel over, from a server in the scope by.
func torrentDocument(t metainfo.Torrent, over verify.Channel, by address.Scope) *Document {
	d := &Document{Refused: t.Refused, Warnings: t.Warnings, Torrent: true, Over: over, by: by, torrent: &t,
		shared: edges.New()}
	t.Describe(d.add)
	return d
}

// IsTorrent reports whether name, a URL or a path, ends in .torrent.
func IsTorrent(name string) bool { return strings.EqualFold(path.Ext(name), ".torrent") }

const magnetName = "the magnet link"

// fetchMagnet implements Client.Magnet.
func fetchMagnet(ctx context.Context, hc network, req *Request, m metainfo.Magnet) (*Document, error) {
	o := req.mirrorOptions(false)
	o.Named = address.Public | address.Loopback // links are often from strangers, as documents are
	var last error
	for _, u := range m.Sources {
		data, _, err := hc.small(ctx, u, o, metainfo.MaxSize)
		var t metainfo.Torrent
		if err == nil {
			t, err = metainfo.Parse(bytes.NewReader(data))
		}
		if err == nil && t.InfoHash != m.InfoHash {
			err = otherTorrent(t.InfoHash, m.InfoHash)
		}
		if err == nil {
			return magnetDocument(t, m, magnetName), nil
		}
		last = fail(kindOf(err), "read", source.Mask(u), err, "")
		if ctx.Err() != nil {
			return nil, last
		}
	}
	if !req.Peers.asked() {
		return nil, last
	}
	t, err := hc.swarms.Metadata(ctx, m, o.Named)
	if err != nil {
		return nil, fail(kindOf(err), "read", magnetName, err, "")
	}
	return magnetDocument(t, m, magnetName), nil
}

// magnetDocument returns t, the torrent of the magnet link m, with the trackers, web seeds and peers of m.
func magnetDocument(t metainfo.Torrent, m metainfo.Magnet, name string) *Document {
	t.AddWebSeeds(m.WebSeeds...)
	if len(m.Trackers) > 0 {
		t.Trackers = append(t.Trackers, m.Trackers)
	}
	d := torrentDocument(t, verify.User, address.Loopback)
	d.Name, d.peers = name, m.Peers
	return d
}

// otherTorrent returns the error of a torrent with the hash got instead of want, the hash of the magnet link.
func otherTorrent(got, want metainfo.Hash) error {
	return &fault{kind: Protocol, what: fmt.Sprintf("this is the torrent %v, not %v", got, want)}
}

// fromOf returns the address scope of the server of the last hop of a.
func fromOf(a source.Answer) address.Scope {
	if len(a.Hops) == 0 {
		return 0
	}
	return a.Hops[len(a.Hops)-1].From
}
