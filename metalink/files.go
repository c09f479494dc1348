package metalink

import (
	"net/url"
	"slices"

	"braid/address"
	"braid/verify"
)

// A Files holds the files of a document in compact form while they wait to be downloaded. All values are encoded as
// text, and each URL as its difference from the previous URL. A Files takes at most the size of the document plus some
// 50 bytes per file. In values of File each URL would take 250 bytes, and all URLs of a document of 8 MiB more than 100
// MiB.
type Files struct{ list []packedFile }

// A packedFile is an encoded File.
type packedFile struct {
	text string
	rest *File // fields that are not in text; nil if all are zero
}

// Len returns the number of files.
func (x *Files) Len() int { return len(x.list) }

// Name returns the name of file i.
func (x *Files) Name(i int) string {
	r := unpacker{rest: x.list[i].text}
	return r.text()
}

// Names returns the names of all files in order.
func (x *Files) Names() []string {
	names := make([]string, x.Len())
	for i := range names {
		names[i] = x.Name(i)
	}
	return names
}

// Add appends a file.
func (x *Files) Add(f File) { x.list = append(x.list, pack(f)) }

// Set replaces file i.
func (x *Files) Set(i int, f File) { x.list[i] = pack(f) }

// At returns file i. The caller must not modify the pieces and signatures, which the file shares with x.
func (x *Files) At(i int) (f File) {
	if rest := x.list[i].rest; rest != nil {
		f = *rest
	}
	r := unpacker{rest: x.list[i].text}
	f.Name, f.Size, f.NoDigest, f.IgnoredCount = r.text(), r.size()-1, r.flag(), r.number()
	f.Claims = append(unpackAll(&r, (*unpacker).claim), f.Claims...)
	f.Mirrors = unpackAll(&r, (*unpacker).mirror)
	f.Documents = unpackAll(&r, func(r *unpacker) MetaURL {
		return MetaURL{URL: r.url(), Type: r.text(), Name: r.text(), Pri: r.number(), By: address.Scope(r.number())}
	})
	f.Ignored = unpackAll(&r, func(r *unpacker) Ignored { return Ignored{Target: r.text(), Reason: r.text()} })
	f.Mirrors = slices.DeleteFunc(f.Mirrors, func(m Mirror) bool { return m.URL == nil })
	f.Documents = slices.DeleteFunc(f.Documents, func(d MetaURL) bool { return d.URL == nil })
	return f
}

// pack encodes a file. Fields that are rare or already compact are kept unencoded in rest.
func pack(f File) packedFile {
	var p packer
	p.text(f.Name)
	p.size(f.Size + 1)
	p.flag(f.NoDigest)
	p.number(f.IgnoredCount)
	unsigned := 0
	for unsigned < len(f.Claims) && f.Claims[unsigned].By == (verify.SignatureResult{}) {
		unsigned++
	}
	packAll(&p, f.Claims[:unsigned], (*packer).claim)
	packAll(&p, f.Mirrors, (*packer).mirror)
	packAll(&p, f.Documents, func(p *packer, d MetaURL) {
		p.url(d.URL)
		p.text(d.Type)
		p.text(d.Name)
		p.number(d.Pri)
		p.number(int(d.By))
	})
	packAll(&p, f.Ignored, func(p *packer, i Ignored) {
		p.text(i.Target)
		p.text(i.Reason)
	})
	rest := &File{Claims: f.Claims[unsigned:], ETag: f.ETag, Pieces: f.Pieces, Signatures: f.Signatures,
		Malformed: f.Malformed, Server: f.Server}
	if len(rest.Claims)+len(rest.Pieces)+len(rest.Signatures) == 0 && rest.ETag == "" && rest.Malformed == nil &&
		rest.Server == nil {
		rest = nil
	}
	return packedFile{string(p.out), rest}
}

func (p *packer) claim(c verify.Claim) {
	p.number(int(c.Digest.Algorithm()))
	p.text(string(c.Digest.Bytes()))
	p.text(c.Field)
	p.number(int(c.Channel))
}

func (r *unpacker) claim() (c verify.Claim) {
	algorithm, raw := verify.Algorithm(r.number()), r.text()
	c.Digest, _ = verify.NewDigest(algorithm, []byte(raw)) // cannot fail, except for the zero value
	c.Field, c.Channel = r.text(), verify.Channel(r.number())
	return c
}

// mirror writes a mirror: its URL, and its other fields if they differ from the fields of the previous mirror.
func (p *packer) mirror(m Mirror) {
	p.url(m.URL)
	m.URL = nil
	p.flag(m == p.before)
	if m == p.before {
		return
	}
	p.before = m
	p.number(m.Pri)
	p.flag(m.Pref)
	p.text(m.Geo)
	p.number(m.Depth)
	p.number(int(m.By))
}

func (r *unpacker) mirror() Mirror {
	u := r.url()
	if same := r.flag(); !same {
		r.before = Mirror{Pri: r.number(), Pref: r.flag(), Geo: r.text(), Depth: r.number(), By: address.Scope(r.number())}
	}
	m := r.before
	m.URL = u
	return m
}

// url writes the difference between u and the previous URL: the lengths of the common prefix and suffix, and the text
// between them.
func (p *packer) url(u *url.URL) {
	text := ""
	if u != nil {
		text = u.String()
	}
	old, begin, end := p.last, 0, 0
	for most := min(len(old), len(text)); begin < most && old[begin] == text[begin]; begin++ {
	}
	for most := min(len(old), len(text)) - begin; end < most && old[len(old)-1-end] == text[len(text)-1-end]; end++ {
	}
	p.number(begin)
	p.number(end)
	p.text(text[begin : len(text)-end])
	p.last = text
}

// url reads a URL. It returns nil if the written URL was nil. FuzzParse checks that a written URL can always be parsed.
func (r *unpacker) url() *url.URL {
	begin, end := r.number(), r.number()
	r.last = r.last[:begin] + r.text() + r.last[len(r.last)-end:]
	u, err := url.Parse(r.last)
	if err != nil || u.Host == "" {
		return nil
	}
	return u
}
