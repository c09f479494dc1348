package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"

	"braid/antenna"
	"braid/download"
	"braid/internal/problem"
	"braid/source"
	"braid/verify"
)

// isOtherVersion reports whether the update is to a version other than the current version.
func (t *task) isOtherVersion() bool { return isOtherVersion(&t.update) }

func isOtherVersion(u *antenna.Update) bool {
	return u.Release != nil && (u.Previous != "" || u.Last.At.IsZero())
}

// ofRelease sets how r treats an existing file of the same name, if r requests the file of a release.
func (t *task) ofRelease(r *download.Request) {
	switch {
	case t.update.Release == nil:
	case t.isOtherVersion() && !(t.unfinished && t.here):
		// An existing file is from an interrupted update, from the previous version, or from another program.
		r.IfExists.IfNewer, r.IfExists.AllowOlder, r.IfExists.Known = false, false, nil
		r.IfExists.Overwrite = t.here || t.replace && !(t.foreign && r.Trust.Require == download.RequireNothing)
	case !t.rule.Releases.Moving && !t.here && t.update.Last.Digest != "": // the file was removed or changed
		if d, err := verify.ParseHex(verify.SHA256, t.update.Last.Digest); err == nil {
			r.Trust.Claims = append(slices.Clip(r.Trust.Claims), verify.Claim{
				Digest: d, Field: "the version in place", Channel: verify.User,
			})
		}
		fallthrough
	default:
		r.IfExists.AllowOlder = true // if a version has two files, their dates do not show which is newer
	}
}

// getRelease downloads the file of a release. If the release is already in place, getRelease only examines the server's
// file, unless Moving is set.
func (t *task) getRelease(ctx context.Context) (download.Result, error) {
	if !t.isOtherVersion() && t.here && !t.rule.Releases.Moving {
		return t.examine(ctx)
	}
	t.foreign = t.rule.File.PerVersion() && !t.memory.hasBegun(t.update.Watch, t.rule.Dir, t.name)
	if err := beginOf(t); err != nil {
		return download.Result{}, err
	}
	res, err := t.Get(ctx, t.update, t.prepare)
	if errors.Is(err, fs.ErrExist) && t.isOtherVersion() && !t.replace {
		t.replace = true
		res, err = t.Get(ctx, t.update, t.prepare)
	}
	if errors.Is(err, fs.ErrExist) && t.foreign {
		t.tidied(abandon(t)) // the existing file is another program's
	}
	_, wrong := errors.AsType[*verify.MismatchError](err)
	_, contradicts := errors.AsType[*verify.ConflictError](err)
	if (wrong || contradicts) && !t.isOtherVersion() && !t.rule.Releases.Moving {
		return res, t.replaced(err)
	}
	return res, err
}

// examine compares the local file of the current version with the server's file, and keeps the local file.
func (t *task) examine(ctx context.Context) (download.Result, error) {
	res, err := t.getNow(ctx, t.update, func(end func(error)) (download.Request, error) {
		r, err := t.prepare(end)
		r.Stream, r.Store, r.IfExists.Known = io.Discard, nil, t.knownVersion()
		r.IfExists.IfNewer, r.NoMetalink = false, true
		r.Trust.Require, r.Trust.LessProof, r.Trust.Lookup = download.RequireNothing, true, false
		r.Trust.Anchors, r.Trust.Signatures = download.Anchors{}, nil
		return r, err
	})
	if err != nil || res.NotModified {
		return res, err
	}
	digest := sha256Of(res.Proof)
	if digest != t.known.Digest {
		return res, t.replaced(fmt.Errorf("the server's file has the sha-256 %s, and the local file %s",
			digest, t.known.Digest))
	}
	t.known.ETag, t.known.LastModified, t.known.Host, t.known.Fleeting = res.ETag, res.LastModified, res.Host, res.Fleeting
	res.NotModified = true
	return res, nil
}

// sha256Of returns the SHA-256 of a file in hexadecimal digits, or "".
func sha256Of(p verify.Proof) string {
	for _, d := range p.Digests() {
		if d.Algorithm() == verify.SHA256 {
			return d.Hex()
		}
	}
	return ""
}

// replaced returns the error of a release whose file was replaced under its tag.
func (t *task) replaced(why error) error { return replaced(&t.update, source.Mask(t.url), why) }

func replaced(u *antenna.Update, where string, why error) error {
	err := fmt.Errorf("the file of the tag %s was replaced on the server, and is not accepted without moving = true: %w",
		u.Release.Tag,
		why)
	return &download.Error{Kind: download.Mismatch, What: "release " + u.Release.Version, Where: where, Err: err}
}

// late converts the error of a release that is not ready to an *antenna.NotYet. A release is not ready if the server
// does not have its file, or the required proof, yet.
func (t *task) late(err error) error {
	after, missing := problem.Missing(err)
	if !missing || t.update.Release == nil {
		return err
	}
	return &antenna.NotYet{Err: err, After: after}
}

// isWaiting reports whether err is no failure, because the release is not ready and will be tried again.
func (t *task) isWaiting(err error) bool {
	return isLate(err) && !t.update.LastTry
}

// isLate reports whether err is the error of a release that is not ready.
func isLate(err error) bool {
	_, late := errors.AsType[*antenna.NotYet](err)
	return late
}

// releaseVariables returns the environment variables that describe the release of the update.
func (t *task) releaseVariables() []string {
	r := t.update.Release
	if r == nil {
		return nil
	}
	return []string{"BRAID_VERSION=" + r.Version, "BRAID_TAG=" + r.Tag, "BRAID_PREVIOUS_VERSION=" + t.update.Previous}
}

// ownVariables are variables that only releaseVariables sets.
var ownVariables = []string{"BRAID_VERSION", "BRAID_TAG", "BRAID_PREVIOUS_VERSION"}

// checkToken returns an error if the URL of a release has a digest. The feed chose the digest, so the digest is no
// evidence. A worker could not distinguish it from a digest that the user gave.
func checkToken(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return err
	}
	if digests, err := verify.OfURL(u); err != nil || len(digests) > 0 {
		return errors.New("the URL has a digest chosen by the feed, which proves nothing")
	}
	return nil
}
