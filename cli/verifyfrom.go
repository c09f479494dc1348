package cli

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"braid/download"
)

// prepare reads what is for all files: flags, keys, the list, and the document.
func (v *verifyCommand) prepare(ctx context.Context, client *download.Client, paths []string) (err error) {
	if err := v.check(paths); err != nil {
		return err
	}
	v.several = len(paths) != 1
	v.common = download.Request{Require: requirement(v.require.Word, v.anchorFlags.given()), LessProof: v.lessProof}
	if v.require.Word == "" && !v.anchorFlags.given() {
		v.common.Require = download.RequireDigest
	}
	if err := v.ask(&v.common, &v.anchorFlags); err != nil {
		return err
	}
	if err := trusting(&v.common); err != nil {
		return err
	}
	v.sums = sumsReader{wire: &v.wire, anchors: &v.anchorFlags, client: client, common: v.common, operands: []string{v.from}}
	if err := v.sums.read(ctx); err != nil {
		return err
	}
	if err := v.readDocument(ctx, client); err != nil {
		return err
	}
	v.tell()
	return nil
}

// readDocument reads the Metalink document of --from, if it is one.
func (v *verifyCommand) readDocument(ctx context.Context, client *download.Client) (err error) {
	if v.from == "" {
		return nil
	}
	if !isWebAddress(v.from) {
		if _, err := os.Stat(v.from); err != nil && looksLikeHost(v.from) && !download.IsDocument(v.from) {
			_, err := webURL(v.from) // it lacks https://
			return err
		}
		if v.document, err = openDocument(v.from); err == nil {
			client.Renew(ctx, v.document)
		}
		return err
	}
	r, err := v.asking(v.common, "")
	if err == nil && download.IsDocument(r.URL.Path) {
		v.common.User = r.User
		v.document, err = client.Document(ctx, r)
	}
	return err
}

// tell says what is to be said of list and document.
func (v *verifyCommand) tell() {
	for _, text := range v.sums.warnings {
		v.screen.say("%s", text)
	}
	notes := v.sums.notes
	if d := v.document; d != nil {
		for _, note := range slices.Concat(d.Warnings, d.Notes) {
			notes = append(notes, d.Name+": "+note)
		}
	}
	for _, text := range notes {
		v.screen.detail("%s", text)
	}
}

// asking is a request to the URL of --from. If that is a folder, it is for the file of that name in it.
func (v *verifyCommand) asking(r download.Request, name string) (download.Request, error) {
	u, err := webURL(v.from)
	if err != nil {
		return r, err
	}
	if r.User, err = v.credentials(u); err != nil {
		return r, err
	}
	u.User = nil
	if strings.HasSuffix(u.Path, "/") && name != "" {
		u = u.JoinPath(url.PathEscape(name))
	}
	r.URL = u
	return r, nil
}

// request says what a file should be.
func (v *verifyCommand) request(file string) (r download.Request, err error) {
	r = v.common
	r.Dir, r.Name = filepath.Dir(file), filepath.Base(file)
	switch {
	case v.document != nil:
		f, err := v.document.FileAt(file)
		if err != nil {
			return r, err
		}
		if r, err = v.document.Describe(f, r); err != nil {
			return r, err
		}
	case v.from != "":
		if r, err = v.asking(r, r.Name); err != nil {
			return r, err
		}
	}
	if err := v.sums.vouch(&r); err != nil {
		return r, err
	}
	named, err := v.signaturesOf(&r, file)
	r.Signatures = append(named, r.Signatures...)
	return r, err
}

// signaturesOf are those that the user names: of the list if there is one, else of the file. Where nothing but a key is
// given, the signature lies beside the file.
func (v *verifyCommand) signaturesOf(r *download.Request, file string) ([]download.Signature, error) {
	switch {
	case v.sums.list != nil || v.from != "" && v.document == nil:
		return v.sums.ofFile(r.URL)
	case v.from != "":
		return v.signaturesBeside(file, nil)
	}
	return v.signaturesBeside(file, r.Anchors.Besides())
}
