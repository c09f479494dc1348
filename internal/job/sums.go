package job

import (
	"context"
	"net/url"
	"os"
	"reflect"
	"slices"

	"braid/download"
	"braid/internal/problem"
	"braid/source"
	"braid/verify"
)

// Sums is the list of digests of --checksums. With a list, --signature is for the list and not for a file.
type Sums struct {
	List            *download.List // nil without --checksums
	Notes, Warnings []string       // about the list; notes are only shown with -v

	http       *HTTP
	anchors    *Anchors
	common     download.Request // the anchors, and whether a signature is required
	signatures []download.Signature
	bound      bool // the URL of the list is bound to keys
}

// ReadSums reads the list of --checksums, if any, and verifies its signature. operands are the URLs that the user typed.
// If one entry of the file of anchors binds all of them, the list must have a signature by one of the keys in that entry.
func ReadSums(ctx context.Context, client *download.Client, http *HTTP, anchors *Anchors, common download.Request,
	operands []string) (*Sums, error) {
	r := &Sums{http: http, anchors: anchors, common: common}
	if b := http.Sites.boundOfAll(operands); b != nil {
		var err error
		if r.common.Trust.Anchors, err = http.Sites.anchorsOf(b); err != nil {
			return r, err
		}
	}
	return r, r.read(ctx, client, operands)
}

func (r *Sums) read(ctx context.Context, client *download.Client, operands []string) (err error) {
	switch {
	case r.http.Checksums == "":
		return nil
	case IsURL(r.http.Checksums):
		err = r.fetch(ctx, client, operands)
	default:
		err = r.open()
	}
	switch {
	case err != nil:
		return err
	case r.common.Trust.Anchors.Any():
		return r.check(ctx, client)
	case r.List.Wrapped():
		r.Notes = append(r.Notes,
			r.List.Name+": the signature in this list was not checked, because no trusted key is given (--keyring FILE)")
	}
	return nil
}

// check verifies the signature of the list.
func (r *Sums) check(ctx context.Context, client *download.Client) error {
	unsigned, err := client.CheckSigned(ctx, r.List, r.common, r.signatures)
	switch {
	case err != nil:
		return err
	case unsigned != "" && r.bound:
		return &problem.Problem{Kind: download.NoEvidence, What: "verify", Where: r.List.Name, Why: unsigned,
			Hint: "list the keys that are trusted at a URL with braid trust show URL"}
	case unsigned != "":
		r.Warnings = append(r.Warnings, r.List.Name+": "+unsigned)
	default:
		r.Notes = append(r.Notes, r.List.Name+": "+r.List.By.String())
	}
	return nil
}

// fetch downloads the list. The user's header fields and logins are sent to the server of the list only if one of
// operands is at that server, too (rule 27).
func (r *Sums) fetch(ctx context.Context, client *download.Client, operands []string) error {
	u, err := ParseWebURL(r.http.Checksums)
	if err != nil {
		return err
	}
	switch claims, err := ClaimsOfURL(r.http.Checksums, nil, false); {
	case err != nil:
		return err
	case len(claims) > 0:
		return problem.Misuse("--checksums", "the URL has a digest of the list, which is not checked",
			"to have the signature of the list checked, give --keyring FILE")
	}
	r.common.Access.User, r.common.Access.Header, r.common.Access.HeaderTo = u.User, nil, nil
	fetch := client.ListElsewhere
	if slices.ContainsFunc(operands, func(word string) bool { return sameServer(u, word) }) {
		fetch = client.List
		if r.common.Access.User, err = r.http.UserFor(u); err != nil {
			return err
		}
		if err = r.http.AddFields(&r.common); err != nil {
			return err
		}
	}
	u.User = nil
	r.common.URL, r.common.Mirrors = u, nil // the mirrors are those of the file, not of the list
	if err = r.http.Sites.bind(&r.common, u); err != nil {
		return err
	}
	bound, err := r.http.Sites.boundOf(u)
	r.bound = bound != nil
	if err != nil {
		return err
	}
	if r.signatures, err = r.anchors.SignaturesFor(u); err != nil {
		return err
	}
	r.List, err = fetch(ctx, r.common)
	return err
}

func (r *Sums) open() error {
	f, err := os.Open(r.http.Checksums)
	if err != nil {
		return problem.Local("list", r.http.Checksums, err)
	}
	defer f.Close()
	if r.List, err = download.ReadList(f, r.http.Checksums); err != nil {
		return err
	}
	r.signatures, err = r.anchors.SignaturesBeside(r.http.Checksums, r.common.Trust.Anchors.Besides())
	return err
}

// sameServer reports whether word is a URL at the server of u.
func sameServer(u *url.URL, word string) bool {
	o, err := url.Parse(word)
	return err == nil && o.Scheme == u.Scheme && source.HostPort(o) == source.HostPort(u)
}

// Vouch adds to q the digests of its file in the list. The list's signature is accepted only if q trusts the same keys.
func (r *Sums) Vouch(q *download.Request) error {
	switch {
	case r.List == nil:
		return nil
	case r.List.Over == verify.Signed && !reflect.DeepEqual(q.Trust.Anchors, r.common.Trust.Anchors): // a site has other keys
		return r.List.Unsigned().Vouch(q)
	}
	return r.List.Vouch(q)
}

// OfFile returns the signatures for the file at u that --signature names. With a list, they are for the list, and
// OfFile returns none. If no keys are trusted either, it returns them nevertheless, so that the download mentions them.
func (r *Sums) OfFile(u *url.URL) ([]download.Signature, error) {
	switch {
	case r.List == nil:
		return r.anchors.SignaturesFor(u)
	case r.common.Trust.Anchors.Any():
		return nil, nil
	}
	return r.signatures, nil
}
