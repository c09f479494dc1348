package cli

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"slices"

	"braid/watch"
)

// watchPrint tells what a watch is configured to do from what it was configured to do before, with what is in the files that it names. Of
// secrets there is just enough to see that they are others (rule 62): the print is stored, and who reads it must not be able to try words.
func watchPrint(w *watch.Watch, conf *configuration) string {
	plain, secret := sha256.New(), sha256.New()
	a := w.Watch
	u := *w
	u.Watch, u.Header, u.File = a, nil, watch.Template{}
	u.Watch.Header, u.Watch.Print = nil, ""
	u.Watch.URL = ""
	fmt.Fprintf(plain, "%+v %q\n", u, w.File.String())
	files := slices.Concat(w.Keyrings, w.Authorities, w.Signatures)
	fmt.Fprintf(secret, "%q %v %v\n", w.URL, w.Header, a.Header)
	if at, err := url.Parse(w.URL); err == nil && conf != nil && conf.file != nil {
		if site := conf.file.Site(at); site != nil {
			fmt.Fprintf(secret, "%+v\n", *site)
			files = slices.Concat(files, site.Keyring, site.Authorities)
		}
	}
	for _, path := range files {
		data, err := os.ReadFile(fromHome(path)) // .asc and URLs are no files
		fmt.Fprintf(plain, "%x %t\n", sha256.Sum256(data), err == nil)
	}
	return fmt.Sprintf("%.16x-%.2x", plain.Sum(nil), secret.Sum(nil))
}
