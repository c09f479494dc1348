package cli

import (
	"context"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"

	"braid/download"
	"braid/internal/problem"
	"braid/source"
	"braid/verify"
)

// A sumsReader reads the list of --checksums and checks its signature. With a list, --signature is about the list: that
// is what is signed where there is one.
type sumsReader struct {
	http     *httpFlags
	anchors  *anchorFlags
	client   *download.Client
	common   download.Request // the anchors, and whether there has to be a signature
	operands []string

	list            *download.List // nil without --checksums
	signatures      []download.Signature
	notes, warnings []string // of the list; warnings are always shown
}

func (r *sumsReader) read(ctx context.Context) (err error) {
	switch {
	case r.http.Checksums == "":
		return nil
	case isWebAddress(r.http.Checksums):
		err = r.fetch(ctx)
	default:
		err = r.open()
	}
	switch {
	case err != nil:
		return err
	case r.common.Anchors.Any():
		return r.check(ctx)
	case r.list.Wrapped():
		r.notes = append(r.notes, r.list.Name+": the PGP signature around it was not checked (--keyring FILE names the keys that count)")
	}
	return nil
}

// check looks for the signature of the list.
func (r *sumsReader) check(ctx context.Context) error {
	unsigned, err := r.client.CheckSigned(ctx, r.list, r.common, r.signatures)
	switch {
	case err != nil:
		return err
	case unsigned != "":
		r.warnings = append(r.warnings, r.list.Name+": "+unsigned)
	default:
		r.notes = append(r.notes, r.list.Name+": "+r.list.By.String())
	}
	return nil
}

// fetch brings the list from its URL. What may be a secret goes to its server only if that is an operand's, too (rule 27).
func (r *sumsReader) fetch(ctx context.Context) error {
	u, err := webURL(r.http.Checksums)
	if err != nil {
		return err
	}
	r.common.User, r.common.Header, r.common.HeaderTo = u.User, nil, nil
	if slices.ContainsFunc(r.operands, func(word string) bool { return sameServer(u, word) }) {
		if r.common.User, err = r.http.credentials(u); err != nil {
			return err
		}
		if err = r.http.addFields(&r.common); err != nil {
			return err
		}
	}
	u.User = nil
	r.common.URL = u
	if r.signatures, err = r.anchors.signaturesFor(u); err != nil {
		return err
	}
	r.list, err = r.client.List(ctx, r.common)
	return err
}

func (r *sumsReader) open() error {
	f, err := os.Open(r.http.Checksums)
	if err != nil {
		return problem.Local("list", r.http.Checksums, err)
	}
	defer f.Close()
	if r.list, err = download.ReadList(f, r.http.Checksums); err != nil {
		return err
	}
	r.signatures, err = r.anchors.signaturesBeside(r.http.Checksums, r.common.Anchors.Besides())
	return err
}

// isWebAddress tells a URL from a path.
func isWebAddress(word string) bool { return strings.Contains(word, "://") }

// sameServer reports whether a word is a URL at the server of u.
func sameServer(u *url.URL, word string) bool {
	o, err := url.Parse(word)
	return err == nil && o.Scheme == u.Scheme && source.HostPort(o) == source.HostPort(u)
}

// vouch adds to a request what the list says of its file. A signature of the list counts for requests that trust the same keys.
func (r *sumsReader) vouch(q *download.Request) error {
	switch {
	case r.list == nil:
		return nil
	case r.list.Over == verify.Signed && !reflect.DeepEqual(q.Anchors, r.common.Anchors): // a site has keys of its own
		return r.list.Unsigned().Vouch(q)
	}
	return r.list.Vouch(q)
}

// ofFile are the signatures of the file at u that the user names. Where there is a list they are of the list, and without
// anybody to trust all that becomes of them is that they are told of (rule 51).
func (r *sumsReader) ofFile(u *url.URL) ([]download.Signature, error) {
	switch {
	case r.list == nil:
		return r.anchors.signaturesFor(u)
	case r.common.Anchors.Any():
		return nil, nil
	}
	return r.signatures, nil
}
