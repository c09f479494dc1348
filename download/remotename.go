package download

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"braid/source"
)

// findName takes the name that the server gives the file, if the request wants that one (rule 11): of its Content-Disposition
// (RFC 6266), else the last segment of the URL that it leads to.
func (g *getter) findName(ctx context.Context) error {
	if !g.req.RemoteName || g.req.Name != "" || g.req.Stream != nil || g.req.Described != nil || isFTP(g.req.URL) {
		return nil
	}
	a, err := look(ctx, g.http, &g.req, condition{})
	if err != nil {
		return err
	}
	name, err := remoteName(a)
	if err != nil {
		return &Error{Kind: Local, What: "name", Where: source.Mask(g.req.URL), Err: err, Hint: HintNameIt}
	}
	g.req.Name = name
	return nil
}

// remoteName is the name that an answer gives the file. The rules are those for names in documents (rule 10): a path, or what else
// would lead elsewhere, is refused and not repaired.
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
