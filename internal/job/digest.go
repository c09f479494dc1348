package job

import (
	"net/url"
	"slices"

	"braid/download"
	"braid/internal/lookup"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source/httpsource"
	"braid/verify"
)

// ClaimsOfURL returns has and the digests in word, a URL that the user typed. follows reports that the URL may be that
// of a document. A digest of the document itself is then an error, because it is not the digest of the file.
func ClaimsOfURL(word string, has []verify.Claim, follows bool) ([]verify.Claim, error) {
	u, err := url.Parse(verify.WellKnownURL(word))
	if err != nil { // the caller parses the URL, too, and reports the error
		return has, nil
	}
	digests, err := verify.OfURL(u)
	var more []verify.Claim
	for _, d := range digests {
		more = append(more, verify.Claim{Digest: d, Field: "the URL", Channel: verify.User})
	}
	if err == nil {
		err = verify.Agree(has, more)
	}
	switch {
	case err != nil:
		return has, problem.Misuse(MaskWord(word), err.Error(), "")
	case len(more) > 0 && follows && download.IsDocument(u.Path):
		return has, problem.Misuse(MaskWord(word), "this digest would be that of the document, not of the file",
			"use --sha256 for the file that the document describes")
	}
	return append(slices.Clip(has), more...), nil
}

// ClaimsOfFeed returns the strong digests in texts as evidence. The named feed, which is on the server of the file at u,
// states them about the file. hc is the client that requested the feed, or nil.
func ClaimsOfFeed(name string, texts []string, u *url.URL, hc *httpsource.Client) (list []verify.Claim) {
	channel := verify.HTTP
	if hc == nil && u.Scheme == "https" || hc != nil && hc.Proven(u) {
		channel = verify.HTTPS
	}
	for _, d := range StrongDigests(texts) {
		list = append(list, verify.Claim{Digest: d, Field: lookup.FieldOfFeed(name), Channel: channel})
	}
	return list
}

// StrongDigests returns the strong digests in texts, and ignores other texts.
func StrongDigests(texts []string) (list []verify.Digest) {
	for _, text := range texts {
		if d, err := ParseChecksum(text); err == nil && d.Algorithm().Strong() {
			list = append(list, d)
		}
	}
	return list
}

// claimsOfMirrors returns claims and the digests in words, the URLs of mirrors. A mirror is never asked for a document.
func claimsOfMirrors(words []string, claims []verify.Claim) (_ []verify.Claim, err error) {
	for _, word := range words {
		if claims, err = ClaimsOfURL(word, claims, false); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// ClaimsOfEntry returns the claims of r, the request for e, and the digests in the URLs of e. The user must have typed
// these URLs. It must not be called for a job or a feed's update, because their URLs may come from others.
func ClaimsOfEntry(e option.Entry, r *download.Request) ([]verify.Claim, error) {
	if len(e.URIs) == 0 {
		return r.Trust.Claims, nil
	}
	claims, err := ClaimsOfURL(e.URIs[0], r.Trust.Claims, !r.NoMetalink)
	if err != nil {
		return nil, err
	}
	mirrors := slices.Clip(e.URIs[1:])
	for _, o := range e.Options {
		if name, _ := option.InList(o.Name); name == "mirror" {
			mirrors = append(mirrors, o.Value)
		}
	}
	return claimsOfMirrors(mirrors, claims)
}

// withChecksums returns e with the digests in its URLs added as options, because a worker only reads digests from
// options. r is the request for e.
func withChecksums(e option.Entry, r *download.Request) (option.Entry, error) {
	claims, err := ClaimsOfEntry(e, r)
	if err != nil {
		return e, err
	}
	e.Options = slices.Clip(e.Options)
	for _, c := range claims[len(r.Trust.Claims):] {
		value := c.Digest.Algorithm().String() + "=" + c.Digest.Hex()
		e.Options = append(e.Options, option.Setting{Name: "checksum", Value: value})
	}
	return e, nil
}
