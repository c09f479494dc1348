package download

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"braid/metalink"
	"braid/source"
)

// nameFrom returns the final name, taken from the path of a URL.
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

// safeName returns an error if name must not be a file's, or leaves no room for the suffixes of the files
// beside it.
func safeName(name string) error {
	if err := metalink.CheckName(name); err != nil {
		return err
	}
	if len(name) > maxName {
		return &metalink.NameError{What: fmt.Sprintf("is longer than %d bytes", maxName)}
	}
	return nil
}

// maxName leaves room for the suffixes of the part file and its journal in the 255 bytes of a file name.
const maxName = metalink.MaxName - len(".part.journal.bad")

// ownName reports whether err is about a name that only braid itself gives to files.
func ownName(err error) bool {
	var name *metalink.NameError
	return errors.As(err, &name) && name.Own
}

// remoteName returns the name that an answer gives the file. A path, or anything else that would lead
// elsewhere, is refused and not repaired.
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
	if ending == path.Base(name) { // .profile has none
		ending = ""
	}
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(name, ending), n, ending)
}
