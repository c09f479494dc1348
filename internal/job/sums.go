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

// Sums are the list of --checksums. With a list, --signature is about the list: that is what is signed where there is one.
type Sums struct {
	List            *download.List // nil without --checksums
	Notes, Warnings []string       // about the list; warnings are always shown

	http       *HTTP
	anchors    *Anchors
	common     download.Request // the anchors, and whether there has to be a signature
	signatures []download.Signature
}

// ReadSums reads the list that an option names, if it does, and checks its signature. Operands are the URLs that the user
// typed.
func ReadSums(ctx context.Context, client *download.Client, http *HTTP, anchors *Anchors, common download.Request,
	operands []string) (*Sums, error) {
	r := &Sums{http: http, anchors: anchors, common: common}
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
	case r.common.Anchors.Any():
		return r.check(ctx, client)
	case r.List.Wrapped():
		r.Notes = append(r.Notes,
			r.List.Name+": the PGP signature around it was not checked (--keyring FILE names the keys that count)")
	}
	return nil
}

// check looks for the signature of the list.
func (r *Sums) check(ctx context.Context, client *download.Client) error {
	unsigned, err := client.CheckSigned(ctx, r.List, r.common, r.signatures)
	switch {
	case err != nil:
		return err
	case unsigned != "":
		r.Warnings = append(r.Warnings, r.List.Name+": "+unsigned)
	default:
		r.Notes = append(r.Notes, r.List.Name+": "+r.List.By.String())
	}
	return nil
}

// fetch brings the list from its URL. What may be a secret goes to its server only if that is an operand's, too (rule 27).
func (r *Sums) fetch(ctx context.Context, client *download.Client, operands []string) error {
	u, err := ParseWebURL(r.http.Checksums)
	if err != nil {
		return err
	}
	switch claims, err := ClaimsOfURL(r.http.Checksums, nil, false); {
	case err != nil:
		return err
	case len(claims) > 0:
		return problem.Misuse("--checksums", "a digest of the list, which is not checked",
			"--keyring FILE checks the signature of the list")
	}
	r.common.User, r.common.Header, r.common.HeaderTo = u.User, nil, nil
	fetch := client.ListElsewhere
	if slices.ContainsFunc(operands, func(word string) bool { return sameServer(u, word) }) {
		fetch = client.List
		if r.common.User, err = r.http.UserFor(u); err != nil {
			return err
		}
		if err = r.http.AddFields(&r.common); err != nil {
			return err
		}
	}
	u.User = nil
	r.common.URL = u
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
	r.signatures, err = r.anchors.SignaturesBeside(r.http.Checksums, r.common.Anchors.Besides())
	return err
}

// sameServer reports whether a word is a URL at the server of u.
func sameServer(u *url.URL, word string) bool {
	o, err := url.Parse(word)
	return err == nil && o.Scheme == u.Scheme && source.HostPort(o) == source.HostPort(u)
}

// Vouch adds to a request what the list says of its file. A signature of the list counts for requests that trust the same keys.
func (r *Sums) Vouch(q *download.Request) error {
	switch {
	case r.List == nil:
		return nil
	case r.List.Over == verify.Signed && !reflect.DeepEqual(q.Anchors, r.common.Anchors): // a site has keys of its own
		return r.List.Unsigned().Vouch(q)
	}
	return r.List.Vouch(q)
}

// OfFile are the signatures of the file at u that the user names. Where there is a list they are of the list, and without
// anybody to trust all that becomes of them is that they are told of.
func (r *Sums) OfFile(u *url.URL) ([]download.Signature, error) {
	switch {
	case r.List == nil:
		return r.anchors.SignaturesFor(u)
	case r.common.Anchors.Any():
		return nil, nil
	}
	return r.signatures, nil
}
