package download

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"braid/download/state"
	"braid/internal/partfile"
	"braid/internal/version"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// This file holds the known facts about the file, each with the party that stated it. learn, hear and recall add the
// facts of answers, documents and journals to a known. All other code reads them there.
//
// An authority is the user or the asked server. The asked server is the server of the URL that the user typed, or the
// target of its redirects, as long as no redirect stated anything about the file (metalink.Own). Digests count only
// from authorities. Sizes, tags and dates of other parties are about their own copies, and count until the digest of an
// authority refutes them.

// A rank orders the parties that state facts about the file (rule 64).
type rank uint8

const (
	unstated rank = iota // by no party
	byOther              // by a party that is no authority: a mirror, the target of a redirect, or a stand-in
	byServer             // by the asked server, in this run or, in the sealed journal, in an earlier run
	byUser               // by the request: the user, or a document that the user named
)

// A tag is a strong ETag and the host:port that gave it. The same ETag from another host is about another resource (RFC
// 9110, section 8.8.3), and does not count.
type tag struct{ etag, host string }

// known holds the facts about one version of the file, each with the party that stated it. All sessions for the version
// share a known.
type known struct {
	digests  digests
	size     int64 // -1: unknown
	sizeBy   rank
	sizeAt   string        // the URL of the source that gave the size; "" for an authority that is no source
	tag      tag           // of the server, or of its stand-in
	stoodIn  string        // partfile.SumURL of the stand-in that gave tag; "" if the server gave tag
	date     time.Time     // Last-Modified in the answer with tag
	host     string        // the host:port that gave tag and date
	pin      state.Pin     // the evidence in the answers of the asked host itself
	file     metalink.File // places and documents that the asked server named
	mixed    bool          // only a digest shows that all existing bytes are of one version
	tried    []int64       // sizes that no authority gave and that did not lead to the file
	disowned []int64       // sizes that another source has contradicted once
	stated   int64         // another size that the server or its document stated, to be tried next; -1: none
	restated bool          // the server has stated two sizes for one digest
}

// A statement holds the facts that one answer states about the file, with their ranks.
type statement struct {
	by     rank          // of file
	file   metalink.File // description by the asked server; empty if another party answered
	size   int64
	sizeBy rank
	at     *url.URL // the source
	tag    tag
	date   time.Time
	host   string    // host:port that gave tag and date
	pin    state.Pin // the evidence in the answers of the asked host itself
	asked  []verify.Claim
}

// newKnown returns the facts that r states.
func newKnown(r *Request) *known {
	k := &known{size: -1, stated: -1, file: metalink.File{Size: -1}}
	k.digests.add(theUser, counts, r.Trust.Claims)
	if d := r.Described; d != nil {
		if k.file.Documents = d.Torrents; d.Size >= 0 {
			k.size, k.sizeBy = d.Size, byUser
		}
	}
	return k
}

// strong reports whether an authority has stated a strong digest.
func (k *known) strong() bool { return verify.Strong(k.digests.counting()) }

// digestBy returns the rank of the best strong digest.
func (k *known) digestBy() rank {
	switch {
	case !k.strong():
		return unstated
	case verify.Strong(k.digests.by(theUser)): // over any channel, because the user named the list
		return byUser
	}
	return byServer
}

// agreed reports whether the server also stated the digest that the user gives.
func (k *known) agreed() bool {
	others := k.digests.ofServer()
	return verify.Strong(common(without(k.digests.counting(), others), others))
}

// bound reports whether every place must have the known size: the size has at least the rank of the digest.
func (k *known) bound() bool { return k.size >= 0 && k.sizeBy >= k.digestBy() }

// guessed reports whether the size is a guess: the digest has a higher rank, and decides whether the size is right.
func (k *known) guessed() bool { return k.size >= 0 && k.sizeBy < k.digestBy() }

// view returns the facts that every answer is compared with.
func (k *known) view() version.View {
	v := version.View{Size: -1, Digests: k.digests.counting(), ETag: k.tag.etag, Host: k.host, Modified: k.date}
	if k.bound() {
		v.Size = k.size
	}
	return v
}

// learn adds st, the statement of an answer about this version. Claims and mirrors are used only if the asked server sent
// them. A size is used only if no size of a higher rank is known.
func (k *known) learn(st statement) {
	if st.by >= byServer {
		k.addDigests(st.file.Claims)
		places := k.file.Mirrors
		if k.file = st.file; len(st.file.Mirrors)+len(st.file.Claims) == 0 { // another answer has named the mirrors
			k.file.Mirrors = places
		}
	}
	k.pin = k.pin.Raise(st.pin)
	k.digests.add(theHost, noted, st.asked)
	k.learnSize(st.size, st.sizeBy, st.at)
	k.tag, k.date, k.host = st.tag, st.date, st.host
}

// learnSize sets the size, unless a size of a higher rank is known.
func (k *known) learnSize(size int64, by rank, at *url.URL) {
	if size < 0 || by < k.sizeBy && k.size >= 0 {
		return
	}
	k.size, k.sizeBy, k.sizeAt = size, by, ""
	if at != nil {
		k.sizeAt = at.String()
	}
}

// hear adds the digests and the evidence in st, from an answer of the asked server that has no bytes of the file. The
// digests identify the version, so a new tag in the answer does not mean that the file has changed.
func (k *known) hear(st statement) {
	k.addDigests(st.file.Claims)
	k.pin = k.pin.Raise(st.pin)
	k.digests.add(theHost, noted, st.asked)
	if verify.Strong(st.file.Claims) {
		k.mixed = k.mixed || k.tag.etag != "" && k.tag != st.tag
		k.tag, k.date, k.host = st.tag, st.date, st.host
		if len(st.file.Mirrors) > 0 {
			k.file.Mirrors = st.file.Mirrors
		}
	}
}

// addDigests adds claims, which the server states in this run. Yielding digests are forgotten if claims contradict them.
func (k *known) addDigests(claims []verify.Claim) {
	k.contradict(claims)
	k.digests.state(claims)
}

// contradict calls forget if claims contradict the yielding digests, and reports whether they do.
func (k *known) contradict(claims []verify.Claim) bool {
	old := k.digests.used(yields)
	if len(old) == 0 || verify.Agree(old, claims) == nil {
		return false
	}
	k.forget()
	return true
}

// forget ends the use of the yielding digests, and of those that only tie bytes. Sizes that did not lead to a file with
// these digests may lead to one with others.
func (k *known) forget() {
	k.digests.forget(yields, ties)
	k.tried = nil
}

// forgetGuess removes a size that no authority gave, if no digest would show whether the size is right.
func (k *known) forgetGuess() {
	if k.sizeBy <= byOther && !k.strong() {
		k.size, k.sizeBy, k.sizeAt = -1, unstated, ""
	}
}

// take makes the validators in r, those of the last answer, the known ones. It is called when no existing bytes stay: the
// next answer is compared with r, which the lookup was about, and not with an answer of an earlier run.
func (k *known) take(r Result) {
	k.tag = tagOf(metalink.File{}, source.Answer{ETag: r.ETag, Host: r.Host})
	k.date, k.host = r.LastModified, r.Host
}

// forgetOthers removes the statements of parties that are no authorities. It is called before another party is asked.
func (k *known) forgetOthers() {
	if k.sizeBy <= byOther {
		k.size, k.sizeBy, k.sizeAt = -1, unstated, ""
	}
	k.mixed = false
}

// recall adds prior, the facts of an earlier run from its sealed journal. Mirrors are added only if r uses links.
func (k *known) recall(prior partfile.Identity, r *Request) {
	said := k.digests.ofServer() // in this run
	k.digests.recall(prior, r.Trust.Claims)
	k.contradict(said)
	if r.Described == nil || r.Described.Size < 0 {
		k.size, k.sizeBy, k.sizeAt = prior.Size, byServer, prior.SizeBy
		if prior.SizeBy != "" || !prior.Asked { // from a mirror, or from a document that this request may not have
			k.sizeBy = byOther
			k.forgetGuess()
		}
	}
	then := tag{prior.ETag, prior.ETagHost}
	// The tag may be of a file of another size.
	k.mixed = prior.Mixed || prior.Size >= 0 && k.size >= 0 && k.size != prior.Size
	if verify.Strong(said) { // k.tag is from the answer with these digests
		k.mixed = k.mixed || then.etag != "" && then != k.tag
	} else {
		k.tag, k.date, k.host = then, prior.LastModified, cmp.Or(prior.ETagHost, prior.Host)
		k.stoodIn = prior.StoodIn
	}
	if r.NoMetalink {
		return
	}
	for _, m := range prior.Mirrors {
		if u, err := url.Parse(m.URL); err == nil && u.RawQuery == "" && u.User == nil { // otherwise it may be masked
			k.file.Mirrors = append(k.file.Mirrors, metalink.Mirror{URL: u, Pri: m.Pri, Pref: m.Pref, Geo: m.Geo, By: m.By})
		}
	}
}

// offers returns the evidence that the server offers, in an answer with the description file and in earlier statements.
func (k *known) offers(file metalink.File) state.Pin {
	file.Claims = join(file.Claims, k.digests.ofServer())
	return pinOf(file)
}

// join returns a with the claims of b that are not in a.
func join(a, b []verify.Claim) []verify.Claim { return slices.Concat(a, without(b, a)) }

// without returns a without the elements of b.
func without[T comparable](a, b []T) []T {
	return slices.DeleteFunc(slices.Clone(a), func(e T) bool { return slices.Contains(b, e) })
}

// stated returns the statement of an answer. by is its rank, except that a size from a mirror has rank byOther. If a
// mirror answered and the server's digest identifies the version, the statement has no tag and no date, because the
// mirror's tag and date are about its copy.
func (x resolution) stated(a source.Answer, by rank, at *url.URL) statement {
	file := x.file
	st := statement{by: by, file: file, size: a.Size, sizeBy: by, at: at, tag: tagOf(file, a), date: dateOf(file, a),
		host: a.Host}
	switch {
	case file.Server != nil:
		st.host = source.HostPort(file.Server)
	case x.decides():
		st.tag, st.date, st.host = tag{}, time.Time{}, ""
	}
	if x.mirror < x.answers {
		st.sizeBy = byOther
	}
	return st
}

// view returns the facts of st, without a size that no authority stated: such a size is about another party's copy.
func (st statement) view() version.View {
	v := version.View{Size: st.size, Digests: st.file.Claims, ETag: st.tag.etag, Host: st.host, Modified: st.date}
	if st.sizeBy < byServer {
		v.Size = -1
	}
	return v
}

// describe returns id with the facts of st.
func (st statement) describe(id partfile.Identity) partfile.Identity {
	v := st.view()
	if v.Size >= 0 {
		id.Size = v.Size
	}
	if id.ETag, id.ETagHost = st.tag.etag, st.tag.host; st.sizeBy >= byServer { // otherwise the date is that of a mirror
		id.LastModified = st.date
	}
	id.Claims = slices.Concat(id.Claims, v.Digests)
	return id
}

// viewOf returns the facts of a mirror's answer about its own copy.
func viewOf(a source.Answer) version.View {
	return version.View{Size: a.Size, Digests: a.Claims, ETag: metalink.StrongETag(a.ETag), Host: a.Host,
		Modified: a.LastModified}
}
