package download

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"braid/internal/partfile"
	"braid/internal/version"
	"braid/source"
	"braid/verify"
)

// This file reads what an earlier run knew of the file, in its journal (partfile.Identity).

// outranked returns the claims that may be of another version than a strong digest of the request, which came over a
// channel as trusted. Only the bytes show whether digests of different algorithms agree.
func outranked(claims, given []verify.Claim) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c verify.Claim) bool {
		return !backed(given, c.Channel, verify.User)
	})
}

// yieldingOf returns the claims of an earlier run that count until an authority, or the bytes, contradict them.
func yieldingOf(prior partfile.Identity) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(prior.Claims), func(c verify.Claim) bool {
		return c.Channel != verify.User && !slices.Contains(prior.Yielding, c)
	})
}

// standingOf returns the claims of an earlier run that the server stated and that do not yield.
func standingOf(prior partfile.Identity) []verify.Claim {
	return without(prior.Claims, yieldingOf(prior))
}

// earlier returns the claims of an earlier run that this one does not make. Those of a signer count as the server's.
func earlier(prior, now []verify.Claim) (claims []verify.Claim) {
	for _, c := range prior {
		same := func(o verify.Claim) bool { return o.Digest == c.Digest && o.Field == c.Field }
		if slices.ContainsFunc(now, same) {
			continue
		}
		if c.Channel == verify.Signed {
			c.Channel, c.By = verify.HTTP, verify.SignatureResult{}
		}
		claims = append(claims, c)
	}
	return claims
}

// identityView returns the facts of a version in a journal. If a digest alone ties the bytes, the tag is that
// of some of them only, and does not count.
func identityView(id partfile.Identity) version.View {
	if id.Mixed {
		id.ETag, id.ETagHost, id.LastModified = "", "", time.Time{}
	}
	return version.View{Size: id.Size, Digests: id.Claims, ETag: id.ETag, Host: id.ETagHost, Modified: id.LastModified}
}

// priorView is like identityView, for the bytes of an earlier run. A size that no authority stated was a guess.
func priorView(id partfile.Identity) version.View {
	v := identityView(id)
	if id.SizeBy != "" {
		v.Size = -1
	}
	return v
}

// sameDate reports whether an answer has the date of a journal, which records one only if it is a strong
// validator. The date of a host with a tag of its own is of its own copy.
func sameDate(then, now version.View) bool {
	return !now.Modified.IsZero() && now.Modified.Equal(then.Modified) && (now.Host == "" || now.Host == then.Host)
}

// takenOver returns the known facts about the bytes that an earlier run left, if they belong to want.
func takenOver(want, prior partfile.Identity, sealed bool) partfile.Identity {
	// The claims tie the bytes, whatever else another server stated about them.
	if sealed && want.URLSum != prior.URLSum && verify.Strong(want.Claims) {
		if prior.Claims, prior.Mixed = want.Claims, true; prior.SizeBy == "" && want.Size < 0 {
			prior.SizeBy = "?"
		}
	}
	if sealed {
		return prior
	}
	if want.Size < 0 { // no authority confirms the size
		want.Size, want.SizeBy = prior.Size, "?"
	}
	want.Require = prior.Require
	return want
}

// noAnswerError returns the error of a download that needs the server's description of the file first.
func noAnswerError(r *Request, err error, sealed bool) error {
	var src *source.Error
	if sealed || !errors.As(err, &src) {
		return err
	}
	e := *wrap(err, "download", r)
	e.Hint = HintUnsealed
	return &e
}

// undecided reports whether err says nothing about the bytes of an earlier run. They are kept then.
func undecided(ctx context.Context, err error) bool {
	return is[*source.Error](err) || is[*Error](err) || err != nil && ctx.Err() != nil
}

// tagged reports whether a strong ETag of a known host identifies the version of all bytes.
func tagged(prior partfile.Identity) bool {
	return prior.ETag != "" && prior.ETagHost != "" && !prior.Mixed
}

// goesOnFrom returns nil if bytes of prior are bytes of want, and otherwise why that is not known. A common
// strong digest makes them one file, wherever it is from, and so do the same pieces, each of which is
// checked. Otherwise the URL must be the same and a validator unchanged.
func goesOnFrom(want, prior partfile.Identity) error {
	now, then := identityView(want), priorView(prior)
	if want.SizeBy != "" || verify.Strong(common(prior.Given(), want.Claims)) { // a digest decides, not the size
		then.Size = -1
	}
	v := version.Compare(then, now)
	switch {
	case v.Judgment == version.Other && v.By == version.BySize:
		return fmt.Errorf("the size was %d and is now %d", prior.Size, want.Size)
	case v.Judgment == version.Other && v.By == version.ByDigest:
		return v.Why
	case v.Judgment == version.Same && v.By == version.ByDigest, want.PieceSum != "" && want.PieceSum == prior.PieceSum:
		return nil
	case want.URLSum != prior.URLSum:
		return fmt.Errorf("it was begun from %s, and no digest shows that this is the same file", prior.URL)
	case v.Judgment == version.Other:
		return v.Why
	case v.Judgment == version.Same || len(common(prior.Claims, want.Claims)) > 0 || sameDate(then, now):
		return nil
	case want.ETag != "" && want.ETag == prior.ETag:
		return fmt.Errorf("another server now sends the entity tag %s", want.ETag)
	}
	return errors.New("nothing shows that the file has not changed since")
}

// decidedBy is like goesOnFrom, except that a strong digest which the server or a document states now decides
// about bytes of the same URL that nothing contradicts. It returns the facts about them.
func decidedBy(stated []verify.Claim, want, prior partfile.Identity) (partfile.Identity, error) {
	err := goesOnFrom(want, prior)
	if err == nil || want.URLSum != prior.URLSum || !verify.Strong(stated) ||
		version.Compare(priorView(prior), identityView(want)).Judgment == version.Other {
		return prior, err
	}
	if prior.Mixed = true; want.Size < 0 { // it also decides whether the size is right
		prior.SizeBy = "?"
	}
	return prior, nil
}
