package download

import (
	"braid/metalink"
)

// signaturesFor are those of signaturesOf or, where a signature is demanded and nothing names one, those that may lie beside the URL.
func signaturesFor(req *Request, f metalink.File) []Signature {
	all := signaturesOf(req, f)
	if len(all) > 0 || !req.needsSignature() || req.described() || req.URL == nil || !isWeb(req.URL) {
		return all
	}
	for _, ending := range req.Anchors.Besides() {
		sig := Beside(req.URL, ending)
		sig.maybe = true
		all = append(all, sig)
	}
	return all
}

// fetchSignatures brings signatures, one at a time. Of those that nothing names it is the first one that is a signature, whatever
// comes of it.
func fetchSignatures(all []Signature, fetch func(Signature) found) (out []found) {
	for _, sig := range all {
		f := fetch(sig)
		if sig.maybe && f.nothing() {
			continue
		}
		if out = append(out, f); sig.maybe {
			break
		}
	}
	return out
}

// nothing reports whether no signature was found: the server has no such file, or answers every path with a page.
func (f found) nothing() bool {
	if absent(f.err) || kindOfSignature(f.err) == Limit {
		return true
	}
	_, err := signersOf(f.data)
	return f.err == nil && err != nil
}
