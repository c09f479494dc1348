package download

import (
	"cmp"
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

// This file reads the facts about the file that an earlier run recorded in its journal (partfile.Identity).

// outranked returns the claims that came over a channel no more trusted than that of a strong digest in given. The claims
// and that digest may be of different versions: only the bytes show whether digests of different algorithms agree.
func outranked(claims, given []verify.Claim) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c verify.Claim) bool {
		return !backed(given, c.Channel, verify.User)
	})
}

// yieldingOf returns the yielding claims of prior: they count only until an authority or the bytes contradict them.
// prior is the record of an earlier run.
func yieldingOf(prior partfile.Identity) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(prior.Claims), func(c verify.Claim) bool {
		return c.Channel != verify.User && !slices.Contains(prior.Yielding, c)
	})
}

// standingOf returns the claims in prior that the server stated and that are not yielding.
func standingOf(prior partfile.Identity) []verify.Claim {
	return without(prior.Claims, yieldingOf(prior))
}

// withoutUser returns the claims that the user did not give.
func withoutUser(claims []verify.Claim) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c verify.Claim) bool { return c.Channel == verify.User })
}

// republished reports whether the feed or release that r is about has a digest that the earlier run with the record prior
// also had from there.
func republished(r *Request, prior partfile.Identity) bool {
	return verify.Strong(common(prior.Looked, r.Published.Claims)) && prior.URLSum == partfile.SumURL(r.URL)
}

// outdated reports whether now, the digests that the server states now, contradict those in id, the record of uploaded
// parts. The parts are then useless, because their bytes cannot be compared with sources; see keepOpposed for bytes on
// disk.
func outdated(id partfile.Identity, now []verify.Claim) bool {
	wrong := against(join(standingOf(id), id.Denied), now)
	return len(wrong) > 0 && len(without(wrong, outranked(wrong, now))) == 0
}

// amended returns a function that adds to a record the server's digests that contradict those of the request or of the
// record, for a later run without a digest. If the server contradicted itself, the function removes the server's digests.
// It changes nothing if the bytes are from another URL.
func amended(r *Request, by *carried) func(*partfile.Identity) {
	return func(id *partfile.Identity) {
		switch {
		case id.URLSum != partfile.SumURL(r.URL):
		case by.takenBack:
			id.Claims, id.Denied = without(id.Claims, standingOf(*id)), nil
		case len(by.opposed) > 0:
			oppose(id, by.opposed)
		}
	}
}

// earlier returns the claims in prior that are not in now. Claims of a signer become claims of the server.
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

// identityView returns the facts in id, the record of a journal. If the bytes are mixed, the tag and the date apply
// only to some of them, and are omitted.
func identityView(id partfile.Identity) version.View {
	if id.Mixed {
		id.ETag, id.ETagHost, id.LastModified = "", "", time.Time{}
	}
	return version.View{Size: id.Size, Digests: id.Claims, ETag: id.ETag, Host: id.ETagHost, Modified: id.LastModified}
}

// priorView is identityView for id, the record of an earlier run. It also omits a size that no authority stated.
func priorView(id partfile.Identity) version.View {
	v := identityView(id)
	if id.SizeBy != "" {
		v.Size = -1
	}
	return v
}

// sameDate reports whether an answer, now, has the date in a journal, then. A journal has a date only if it is a strong
// validator. The date of another host is about that host's copy, and does not count.
func sameDate(then, now version.View) bool {
	return !now.Modified.IsZero() && now.Modified.Equal(then.Modified) && (now.Host == "" || now.Host == then.Host)
}

// takenOver returns the facts about the bytes of prior, which an earlier run left, once they are known to be bytes of want.
func takenOver(want, prior partfile.Identity, sealed bool) partfile.Identity {
	if want.URLSum != prior.URLSum { // a list in another folder may be of another version
		prior.Looked = nil
	}
	// The claims show that the bytes are of this file. The other facts about the bytes are from another server.
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

// noAnswerError returns the error of a download that cannot resume without an answer of the server. It adds a hint if
// the journal is not sealed.
func noAnswerError(r *Request, err error, sealed bool) error {
	if sealed || !is[*source.Error](err) {
		return err
	}
	e := *wrap(err, "download", r)
	e.Hint = HintUnsealed
	return &e
}

// undecided reports whether err shows nothing about the bytes of an earlier run, which are then kept.
func undecided(ctx context.Context, err error) bool {
	return is[*source.Error](err) || is[*Error](err) || err != nil && ctx.Err() != nil
}

// tagged reports whether all bytes of prior came with one strong ETag of a known host.
func tagged(prior partfile.Identity) bool {
	return prior.ETag != "" && prior.ETagHost != "" && !prior.Mixed
}

// goesOnFrom returns nil if bytes of prior are bytes of want, and otherwise the reason why that is not known. A common
// strong digest shows that both are one file, whatever their URLs, and so do the same digests of pieces. Otherwise the
// URL must be the same and a validator unchanged.
func goesOnFrom(want, prior partfile.Identity) error {
	now, then := identityView(want), priorView(prior)
	if want.SizeBy != "" || verify.Strong(common(prior.Given(), want.Claims)) { // the digest decides, not the size
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
		return fmt.Errorf("the part is of a download from %s, and no digest shows that this is the same file", prior.URL)
	case v.Judgment == version.Other:
		return v.Why
	case v.Judgment == version.Same || len(common(prior.Claims, want.Claims)) > 0 || sameDate(then, now):
		return nil
	case want.ETag != "" && want.ETag == prior.ETag:
		return fmt.Errorf("another server now sends the entity tag %s", want.ETag)
	}
	return errors.New("nothing shows that the file has not changed since")
}

// decidedBy is like goesOnFrom, but also accepts bytes of the same URL that nothing contradicts, if the server or a
// document now states a strong digest, which will decide. It returns the facts about the bytes.
func decidedBy(stated []verify.Claim, want, prior partfile.Identity) (partfile.Identity, error) {
	err := goesOnFrom(want, prior)
	if err == nil || want.URLSum != prior.URLSum || !verify.Strong(stated) ||
		version.Compare(priorView(prior), identityView(want)).Judgment == version.Other {
		return prior, err
	}
	if prior.Mixed = true; want.Size < 0 { // the digest also decides whether the size is right
		prior.SizeBy = "?"
	}
	return prior, nil
}

// denying returns prior with wrong, the digests that contradict the request, moved from Claims to Denied. In a later
// run, the server's digests among them count again.
func denying(prior partfile.Identity, wrong []verify.Claim) partfile.Identity {
	prior.Denied = join(prior.Denied, without(wrong, yieldingOf(prior)))
	prior.Claims = without(prior.Claims, wrong)
	return prior
}

// reinstated returns prior with those digests moved from Denied to Claims that r does not contradict. Claims of prior
// that contradict these digests are removed: they came from the earlier request that denied the digests.
func reinstated(prior partfile.Identity, r *Request) partfile.Identity {
	denied := against(prior.Denied, r.Trust.Claims)
	again := without(prior.Denied, denied)
	prior.Claims, prior.Denied = join(again, without(prior.Claims, against(prior.Claims, again))), denied
	return prior
}

// oppose adds claims of the server that contradict the request to the denied digests of an identity. They replace
// earlier digests of the server, unless these came over a more trusted channel. The claims may be of another version
// than the bytes, so the recorded size becomes a guess, and the recorded tag is removed.
func oppose(id *partfile.Identity, claims []verify.Claim) {
	said := join(standingOf(*id), id.Denied)
	if len(without(against(said, claims), outranked(said, claims))) == 0 {
		id.Denied = join(claims, without(id.Denied, outranked(id.Denied, claims)))
		id.SizeBy, id.Mixed = cmp.Or(id.SizeBy, "?"), true
		id.ETag, id.ETagHost, id.LastModified = "", "", time.Time{}
	}
}
