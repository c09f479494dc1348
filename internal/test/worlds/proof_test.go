package worlds

import (
	"context"
	"crypto/ed25519"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"braid/download"
	"braid/internal/test/oracle"
	"braid/verify"
	"braid/verify/minisign"

	"golang.org/x/crypto/blake2b"
)

// The files beside the file that say what it is. Each server that has Says or Signs has them.
const (
	documentName  = fileName + ".meta4"
	listName      = "SHA256SUMS"
	signatureName = fileName + ".minisig"
)

// kinds are those of the oracle.
var kinds = map[string]string{
	documentName: oracle.Document, listName: oracle.List, signatureName: oracle.Signature,
}

// A signer has a key of minisign.
type signer struct {
	id      string
	private ed25519.PrivateKey
}

// The user trusts the first one.
var signers = sync.OnceValue(func() (all [2]signer) {
	for i := range all {
		seed := make([]byte, ed25519.SeedSize)
		rand.NewChaCha8([32]byte{byte(i), 1}).Read(seed)
		all[i] = signer{fmt.Sprintf("%08d", i), ed25519.NewKeyFromSeed(seed)}
	}
	return all
})

// public is the key as a user has it.
func (s signer) public() string {
	raw := "Ed" + s.id + string(s.private.Public().(ed25519.PublicKey))
	return "untrusted comment: key\n" + base64.StdEncoding.EncodeToString([]byte(raw)) + "\n"
}

// sign is a signature of the data of a file in minisign's format.
func (s signer) sign(data []byte, name string) string {
	sum := blake2b.Sum512(data)
	of := ed25519.Sign(s.private, sum[:])
	comment := "timestamp:1780000000\tfile:" + name
	global := ed25519.Sign(s.private, append(of[:len(of):len(of)], comment...))
	coded := base64.StdEncoding.EncodeToString
	return "untrusted comment: signature\n" + coded([]byte("ED"+s.id+string(of))) +
		"\ntrusted comment: " + comment + "\n" + coded(global) + "\n"
}

var signatures struct {
	sync.Mutex
	of map[[2]string]string
}

// signature is the signature that a word stands for: of a content, by the trusted key or, with x before it, by another.
func (w *World) signature(word string) string {
	of, other := strings.CutPrefix(word, "x")
	content := w.content(of)
	key := [2]string{word, content.sum}
	signatures.Lock()
	defer signatures.Unlock()
	if signatures.of == nil {
		signatures.of = map[[2]string]string{}
	}
	text, ok := signatures.of[key]
	if !ok {
		by := signers()[0]
		if other {
			by = signers()[1]
		}
		text = by.sign(content.data, fileName)
		signatures.of[key] = text
	}
	return text
}

// signed are the digests of all that the trusted key has signed in a world.
func (w *World) signed() map[string]bool {
	all := map[string]bool{}
	for _, p := range w.Parties {
		for _, f := range p.Faces {
			if f.Signs != "" && !strings.HasPrefix(f.Signs, "x") {
				all[w.content(f.Signs).sum] = true
			}
			if f.ListSig != "" && !strings.HasPrefix(f.ListSig, "x") {
				all[w.digest(f.ListSig, f.Has)] = true
			}
		}
	}
	return all
}

// document is a Metalink document with a digest and places.
func (w *World) document(word string, places []string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	fmt.Fprintf(&b, "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=%q>", fileName)
	if word != "x" {
		fmt.Fprintf(&b, "<size>%d</size>", len(w.content(word).data))
	}
	fmt.Fprintf(&b, "<hash type=\"sha-256\">%s</hash>", w.digest(word, ""))
	for i, p := range places {
		fmt.Fprintf(&b, "<url priority=\"%d\">%s</url>", i+1, w.url(p))
	}
	return b.String() + "</file></metalink>\n"
}

// torrent is a torrent of a content, with places as web seeds (BEP 19).
func (w *World) torrent(word string, places []string) string {
	const piece = 32 << 10
	text := func(s string) string { return strconv.Itoa(len(s)) + ":" + s }
	data, sums, seeds := w.content(word).data, "", ""
	for part := range slices.Chunk(data, piece) {
		sum := sha1.Sum(part)
		sums += string(sum[:])
	}
	for _, p := range places {
		seeds += text(w.url(p))
	}
	return fmt.Sprintf("d4:infod6:lengthi%de4:name%s12:piece lengthi%de6:pieces%se8:url-listl%see",
		len(data), text(fileName), piece, text(sums), seeds)
}

// beside makes the answer for one of the files beside the file.
func (a *answer) beside(name string) *http.Response {
	a.header = http.Header{"Date": {a.now()}}
	f, text := a.f, ""
	a.log.Kind = kinds[name]
	switch {
	case f.Status != 0:
		return a.response(f.Status, 0, 0)
	case f.To != "":
		a.log.To = f.To
		a.header.Set("Location", strings.TrimSuffix(a.w.url(f.To), fileName)+name)
		return a.response(http.StatusFound, 0, 0)
	case name == signatureName && f.Signs != "":
		text = a.w.signature(f.Signs)
	case name == documentName && f.Says != "":
		a.header.Set("Content-Type", "application/metalink4+xml")
		a.log.Digest, a.log.Links = a.w.digest(f.Says, ""), true
		text = a.w.document(f.Says, append([]string{"a"}, list(f.Links)...))
	case name == listName && f.Says != "":
		a.log.Digest = a.w.digest(f.Says, "")
		text = a.log.Digest + "  " + fileName + "\n"
	default:
		return a.response(http.StatusNotFound, 0, 0)
	}
	a.small, a.data, a.size = true, []byte(text), int64(len(text))
	return a.response(http.StatusOK, 0, a.size)
}

// trust adds what the user has to prove the file with: a key, a document on disk, a list.
func (u *user) trust(ctx context.Context, q *download.Request) error {
	if u.cmd.Key {
		key, err := minisign.ParseKey([]byte(signers()[0].public()))
		if err != nil {
			panic(err)
		}
		q.Trust.Anchors = download.Anchors{minisign.Trust{Keys: []minisign.Key{key}}}
		if !u.cmd.Bare {
			q.Trust.Signatures = []download.Signature{download.Beside(q.URL, path.Ext(signatureName))}
		}
	}
	if from := u.cmd.List; from != "" {
		common := download.Request{URL: parse(strings.TrimSuffix(u.w.url(from), fileName) + listName), Observe: q.Observe}
		list, err := u.client.List(ctx, common)
		if err != nil {
			return err
		}
		if err := list.Vouch(q); err != nil {
			return err
		}
	}
	switch u.cmd.Doc {
	case "":
		return nil
	case "url":
		q.URL = parse(strings.TrimSuffix(u.w.url("a"), fileName) + documentName)
		return nil
	}
	places := append([]string{"a"}, list(u.cmd.Mirrors)...)
	text, name := u.w.document(u.cmd.Doc, places), documentName
	if word, ok := strings.CutPrefix(u.cmd.Doc, "t"); ok {
		text, name = u.w.torrent(word, places), fileName+".torrent"
	}
	d, err := download.ReadDocument(strings.NewReader(text), name)
	if err != nil {
		return err
	}
	made, err := d.Request(d.Files.At(0), *q)
	*q = made
	return err
}

// proof tells the oracle the best evidence of a result.
func (u *user) proof(p verify.Proof) {
	for _, e := range p.Evidence() {
		if e.Digest.Algorithm().Strong() && int(e.Channel) > u.c.Rank {
			u.c.Rank, u.c.Digest = int(e.Channel), e.Digest.Hex()
		}
	}
	if p.Signed() && u.c.Rank < oracle.Signed {
		u.c.Rank, u.c.Digest = oracle.Signed, ""
	}
}

// proofs adds documents, lists and signatures to a third of the worlds. It uses random numbers of its own, so that the other
// worlds do not change.
func (m *maker) proofs() {
	if !m.one(3) {
		return
	}
	w := m.w
	how := m.IntN(4)
	for i := range w.Parties {
		for n := range w.Parties[i].Faces {
			f := &w.Parties[i].Faces[n]
			switch how {
			case 0, 1:
				f.Says = pick(m, f.has(), f.has(), f.has(), "0", "1", "x", "")
			case 2, 3:
				f.Signs = pick(m, f.has(), f.has(), f.has(), "0", "1", "x"+f.has(), "")
			}
		}
	}
	inPlace := how == 0 && m.one(2)
	for k := range w.Commands {
		c := &w.Commands[k]
		switch {
		case inPlace:
			c.Do, c.Doc, c.Mirrors = "get", "url", ""
		case c.Do != "get":
		case how == 0 && c.Sha == "" && !m.one(3):
			c.Doc = pick(m, "0", "0", "0", "1", "x", "t0", "t0", "t1")
		case how == 1 && !m.one(3):
			c.List = pick(m, append([]string{"a", "a"}, m.names...)...)
		case how == 2 && !m.one(4):
			c.Key = true
			c.Require = pick(m, c.Require, "signature")
		case how == 3:
			c.Key = true
		}
	}
}

// kindOf is what a path asks for: "" the file itself.
func kindOf(p string) (name string, ok bool) {
	name = path.Base(p)
	return name, name == fileName || kinds[name] != ""
}
