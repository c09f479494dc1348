package openpgp

import (
	"braid/verify"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// judge returns the pinned keys that may have made w. Otherwise it returns a fault and names the faulty key in r.
func judge(w written, keys shelf, policy Policy, r *verify.SignatureResult) ([]signer, *verify.SignatureError) {
	found := keys.find(w.issuer)
	if len(found) == 0 {
		return nil, unknownKey(w, policy)
	}
	var fault *verify.SignatureError
	var signers []signer
	for _, s := range found {
		f := judgeSigner(w, s, policy)
		switch {
		case f == nil:
			s.userID = userID(s.entity, policy.Now.Add(tolerance))
			signers = append(signers, s)
		case fault == nil || f.Code != verify.SignatureNotPinned:
			fault = f
			s.name(r)
		}
	}
	if len(signers) > 0 {
		return signers, nil
	}
	return nil, fault
}

// unknownKey returns why no key is known for w: its version is unsupported, it names no key, or the keyring lacks the
// key.
func unknownKey(w written, policy Policy) *verify.SignatureError {
	if w.version != 4 && w.version != 6 {
		return fail(verify.SignatureUnsupported, "its version is %d", w.version)
	}
	if w.issuer == (issuer{}) {
		return fail(verify.SignatureUnknownKey, "it does not name its key")
	}
	for _, p := range policy.Pins {
		if w.issuer.names(p) {
			return fail(verify.SignatureUnknownKey, "%v is pinned, but not in the keyring", w.issuer)
		}
	}
	return fail(verify.SignatureUnknownKey, "%v is not in the keyring", w.issuer)
}

// judgeSigner returns why w is not accepted as a signature by s, or nil if only the file remains to be checked.
func judgeSigner(w written, s signer, policy Policy) *verify.SignatureError {
	if !policy.pinned(s) {
		return fail(verify.SignatureNotPinned, "")
	}
	if f := judgeForm(w, policy.Text); f != nil {
		return f
	}
	return judgeTimes(w.sig, s, policy)
}

// judgeForm returns a fault of w apart from its times. If text is set, w must be a signature of a text.
func judgeForm(w written, text bool) *verify.SignatureError {
	switch d, known := digests[w.hash]; {
	case text && w.kind != packet.SigTypeText:
		return fail(verify.SignatureNotOfFile, "its type is 0x%02x, not that of a signature of a text", uint8(w.kind))
	case w.kind == packet.SigTypeText && !text:
		// The hash of a text ignores line endings, so files that differ in them have the same hash.
		return fail(verify.SignatureNotOfFile, "it is a signature of a text (type 0x01), not of a binary file")
	case w.kind != packet.SigTypeBinary && !text:
		return fail(verify.SignatureNotOfFile, "its type is 0x%02x", uint8(w.kind))
	case known && d.new == nil:
		return fail(verify.SignatureWeak, "its digest is %s", d.name)
	case w.sig == nil:
		return fail(verify.SignatureUnsupported, "%v", w.err)
	}
	for _, n := range w.sig.Notations {
		if n.IsCritical {
			return fail(verify.SignatureUnsupported, "it has the critical notation %s, which is not known", quote(n.Name))
		}
	}
	return nil
}

// judgeTimes returns a fault of the key s, or of the times of s and sig.
func judgeTimes(sig *packet.Signature, s signer, policy Policy) *verify.SignatureError {
	if sig.Version != s.public().Version {
		return fail(verify.SignatureUnsupported, "its version is %d, but the version of its key is %d", sig.Version,
			s.public().Version)
	}
	made, now := sig.CreationTime, policy.Now
	if f := s.fault(made, now, policy.AllowExpiredKey); f != nil {
		return f
	}
	if made.After(now.Add(tolerance)) {
		return fail(verify.SignatureFuture, "made %s", moment(made))
	}
	if end := lifetimeEnd(sig); !end.IsZero() && now.After(end) {
		return fail(verify.SignatureExpired, "since %s", moment(end))
	}
	return nil
}

// lifetimeEnd returns when sig expires, or the zero time if it does not.
func lifetimeEnd(sig *packet.Signature) time.Time {
	if sig.SigLifetimeSecs == nil || *sig.SigLifetimeSecs == 0 {
		return time.Time{}
	}
	return sig.CreationTime.Add(time.Duration(*sig.SigLifetimeSecs) * time.Second)
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
