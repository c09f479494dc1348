package rpc

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"braid/internal/mask"
	"braid/metalink"
)

// place returns an error if options would put a file outside the root folder. It makes the paths in options absolute.
// It checks names only; symbolic links are checked when the file is opened.
func (h *Handler) place(options map[string]string) error {
	if dir := options["dir"]; dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(cmp.Or(h.Given["dir"], h.Root), dir)
		}
		below, err := filepath.Rel(h.Root, dir)
		if err != nil || !filepath.IsLocal(below) {
			return refuse("dir: %s is outside %s, the folder of all downloads.", mask.Quote(dir, 200), h.Root)
		}
		if h.hidden(dir) {
			return refuse("dir: %s has a name that begins with a dot. Clients may not use such names, because settings "+
				"have them.", mask.Quote(dir, 200))
		}
		options["dir"] = filepath.Clean(dir)
	}
	if file, err := h.sessionPlace(options[sessionOption]); err != nil {
		return err
	} else if file != "" {
		options[sessionOption] = file
	}
	out := options["out"]
	if out == "" {
		return nil
	}
	if !filepath.IsLocal(out) || strings.HasSuffix(out, "/") {
		return refuse("out: %s is not the name of a file below the folder of the download.", mask.Quote(out, 200))
	}
	if dotted(filepath.Clean(out)) {
		return refuse("out: %s has a name that begins with a dot. Clients may not use such names, because settings "+
			"have them.", mask.Quote(out, 200))
	}
	return nil
}

// sessionPlace returns the absolute path of file, a session file that a client named. Clients can only name files below
// the root folder. The user's own session file is returned unchanged.
func (h *Handler) sessionPlace(file string) (string, error) {
	if file == "" || file == h.Given[sessionOption] {
		return file, nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(h.Root, file)
	}
	below, err := filepath.Rel(h.Root, file)
	if err != nil || below == "." || !filepath.IsLocal(below) || strings.ContainsRune(file, 0) || h.SaveSession == nil {
		return "", refuse("save-session: %s is outside %s, where clients may write.", mask.Quote(file, 200), h.Root)
	}
	if h.hidden(file) {
		return "", refuse("save-session: %s begins with a dot, which clients may not use.",
			mask.Quote(file, 200))
	}
	return filepath.Clean(file), nil
}

// hidden reports whether an element of path begins with a dot. It examines only the elements below the download folder
// or the root. A path outside both folders is hidden.
func (h *Handler) hidden(path string) bool {
	for _, folder := range []string{h.Given["dir"], h.Root} {
		if below, err := filepath.Rel(folder, path); folder != "" && err == nil && filepath.IsLocal(below) {
			return below != "." && dotted(below)
		}
	}
	return true
}

// dotted reports whether an element of path, a clean path, begins with a dot.
func dotted(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path,
		func(r rune) bool { return r == '/' || r == filepath.Separator }), metalink.Hidden)
}
