package aria2c

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"braid/download"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/metalink/metainfo"
)

// List returns the URIs as a list. Documents on disk and magnet links are not in the list but in documents.
func (c *Call) List() (list job.Input, documents []string, err error) {
	defer func() { c.results.read = err == nil }()
	for _, name := range []string{"torrent-file", "metalink-file"} {
		if path := c.Value(name); path != "" {
			documents = append(documents, path)
		}
	}
	if name := c.Value("input-file"); name != "" {
		if len(c.line.Operands) > 0 {
			c.warning("-i %s: URIs on the command line are then ignored", name)
		}
		list = job.Input{InputFile: name, Stdin: c.in}
		text, err := list.Read(job.MaxList)
		if err != nil {
			return list, nil, err
		}
		c.results.list = text
		own, ignored, err := option.Aria2List(text)
		if err != nil {
			return list, nil, misuse(list.String(), err)
		}
		if len(ignored) > 0 {
			c.warning("%s: %s: ignored in a list", list, strings.Join(ignored, ", "))
		}
		list.Text = own + "\n"
		return list, documents, nil
	}
	var uris []string
	for _, word := range c.line.Operands {
		if job.IsLocalDocument(word) || metainfo.IsMagnet(word) {
			documents = append(documents, word)
		} else {
			uris = append(uris, word)
		}
	}
	if len(uris)+len(documents) == 0 && !c.Is("enable-rpc") {
		return list, nil, &problem.Problem{Kind: download.Other, What: "usage", Why: "no URI", Hint: "aria2c --help"}
	}
	if len(uris) > 0 {
		list = job.Input{InputFile: "the command line"}
		list.Text, err = c.entries(uris)
		c.results.list = list.Text
	}
	return list, documents, err
}

// entries returns a list of the URIs of the command line: one file with several mirrors, or one file per URI.
func (c *Call) entries(uris []string) (string, error) {
	if strings.HasSuffix(c.Value("out"), "/") {
		return "", &problem.Problem{
			Kind: download.Local, What: "name", Where: c.Value("out"), Why: "names a folder",
			Hint: "-d DIR, and -o NAME for the name in it",
		}
	}
	for _, uri := range uris {
		if strings.ContainsAny(uri, "\t\r\n") || uri == "" || strings.ContainsAny(uri[:1], "# {") {
			return "", problem.Misuse(job.MaskWord(uri), "not a URI", "")
		}
	}
	var b strings.Builder
	if c.Is("force-sequential") {
		for _, uri := range uris {
			b.WriteString(uri + "\n" + c.lines(uri, ""))
		}
		return b.String(), nil
	}
	return strings.Join(uris, "\t") + "\n" + c.lines(uris[0], c.Value("out")), nil
}

// lines returns the option lines of one file in a list.
func (c *Call) lines(uri, out string) string {
	var b strings.Builder
	if u, err := url.Parse(uri); out == "" && err == nil && strings.HasSuffix("/"+strings.TrimPrefix(u.Path, "/"), "/") {
		out = "index.html"
	}
	if out != "" { // path may be outside the folder, because the user chose out
		path := filepath.Join(cmp.Or(c.Value("dir"), "."), out)
		fmt.Fprintf(&b, " dir=%s\n out=%s\n", filepath.Dir(path), filepath.Base(path))
	}
	if sum := c.Value("checksum"); sum != "" {
		fmt.Fprintf(&b, " checksum=%s\n", sum)
	}
	return b.String()
}
