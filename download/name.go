package download

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"braid/address"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
)

// nameFrom returns the last segment of the path of u as a file name.
func nameFrom(u *url.URL) (string, error) {
	path := u.EscapedPath()
	if p, ok := protocolOf(u); ok {
		path = p.cut(path)
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	name, err := url.PathUnescape(last)
	if err != nil || name == "" {
		return "", fmt.Errorf("the URL ends without a file name")
	}
	return name, safeName(name)
}

// safeName returns an error if name is not a safe file name, or is too long for the suffixes of the files beside it.
func safeName(name string) error {
	if err := metalink.CheckName(name); err != nil {
		return err
	}
	if len(name) > maxName {
		return &metalink.NameError{What: fmt.Sprintf("is longer than %d bytes", maxName)}
	}
	return nil
}

// maxName is the maximum length of a name, in bytes. With the suffixes of the part file and its journal, such a name
// has at most 255 bytes.
const maxName = metalink.MaxName - len(".part.journal.bad")

// ownName reports whether err is about a name that is reserved for files of braid.
func ownName(err error) bool {
	var name *metalink.NameError
	return errors.As(err, &name) && name.Own
}

// remoteName returns the name that the answer a gives the file. A path, or any other unsafe name, is an error.
func remoteName(a source.Answer) (string, error) {
	if len(a.Hops) > 0 {
		field := http.Header(a.Hops[len(a.Hops)-1].Header).Get("Content-Disposition")
		_, params, err := mime.ParseMediaType(field)
		if name, given := params["filename"]; given && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter)) {
			if err := safeName(name); err != nil {
				return "", fmt.Errorf("the server calls the file %+q: %w", shorten(name), err)
			}
			return name, nil
		}
	}
	return nameFrom(a.URL)
}

func shorten(s string) string {
	if len(s) > 100 {
		return s[:100]
	}
	return s
}

// numbered returns name with a number before its extension, as aria2 does it: disk.1.iso for disk.iso.
func numbered(name string, n int) string {
	ending := path.Ext(name)
	if ending == path.Base(name) { // .profile has no extension
		ending = ""
	}
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(name, ending), n, ending)
}

// findName sets the name that the server gives the file, if the request wants that: the name in Content-Disposition
// (RFC 6266), otherwise the last segment of the URL after redirects.
func (g *getter) findName(ctx context.Context) error {
	if !g.req.RemoteName || g.req.Name != "" || !g.req.hasName() || g.req.Described != nil ||
		address.SchemeOf(g.req.URL).NoNames {
		return nil
	}
	a, err := look(ctx, g.http, g.req, condition{})
	for _, u := range g.req.Mirrors { // the user typed their URLs as well
		if err == nil || ctx.Err() != nil || !isWeb(u) {
			break
		}
		if there, failed := lookAt(ctx, g.http, u, g.req.optionsFor(u, 0, vouched(g.req.Trust.Claims))); failed == nil {
			a, err = there, nil
		}
	}
	if err != nil {
		return err
	}
	name, err := remoteName(a)
	if err != nil {
		return &Error{Kind: Local, What: "name", Where: source.Mask(g.req.URL), Err: err, Hint: HintNameIt}
	}
	own, err := nameFrom(g.req.URL)
	g.req.Name, g.theirs = name, err != nil || own != name
	return nil
}

// makeFolders makes the folders of the file. The user's folder may be a symbolic link. Folders in a name from a
// document may not be links.
func (g *getter) makeFolders() error {
	if g.planOnly || g.req.Store != nil {
		return nil
	}
	if g.req.MakeDir && g.req.Dir != "" {
		if err := fsys.MkdirAll(g.http.files, g.req.Dir, 0o777); err != nil {
			return err
		}
	}
	if g.req.Described == nil || !g.req.hasName() {
		return nil
	}
	for p := path.Dir(g.req.Name); p != "." && p != "/"; p = path.Dir(p) {
		folder := filepath.Join(g.req.Dir, filepath.FromSlash(p))
		if _, err := g.http.files.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			g.result.Folders = append(g.result.Folders, folder)
		}
	}
	return partfile.MakeFolders(g.http.files, g.req.Dir, g.req.Name)
}
