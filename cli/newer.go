package cli

import "braid/download"

// newerFlags say what becomes of a file that is there (rule 54).
type newerFlags struct{ ifNewer, allowOlder, remoteTime bool }

// gist is what results must have in common to share a line.
func (w *watcher) gist(r download.Result) string {
	switch {
	case r.Older:
		return "the server has older ones: kept"
	case r.NotModified:
		return "nothing newer"
	}
	return w.proven(r)
}

// unchanged says that a server has nothing newer.
func (w *watcher) unchanged(r download.Result) string {
	const day = "2006-01-02 15:04 MST"
	if r.Older {
		return w.name() + ": the server has an older one (" + r.LastModified.Local().Format(day) + "): kept; --allow-older takes it"
	}
	text := w.name() + ": nothing newer"
	if r.Size > 0 {
		text += " (" + sizeText(r.Size) + ")"
	}
	if r.Proof.Valid() {
		text += "; " + w.proven(r)
	}
	return text
}
