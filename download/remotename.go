package download

import (
	"errors"
	"fmt"
	"mime"
	"net/http"

	"braid/source"
)

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
