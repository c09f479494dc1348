package worlds

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"braid/download"
	"braid/internal/test/oracle"
)

// Names of what lookups ask for: the index of the folder, the list with the name of the file, and a forge.
const (
	folderName  = "/"
	ownListName = fileName + ".sha256"
	forgeName   = "g"
	questionFor = "api.json"
)

// forges returns the table of forges: the host of the file is one, and the party g answers questions about its files.
var forges = sync.OnceValue(func() []*download.Forge {
	f, err := download.NewForge("worlds", map[string][]string{
		"url": {`^https://a\.example\.net/f\.bin$`}, "ask": {"https://" + forgeName + domain + "/" + questionFor},
		"list": {"assets"}, "at": {"url"}, "digest": {"digest"},
	})
	if err != nil {
		panic(err)
	}
	return []*download.Forge{f}
})

// looks reports whether a request is one of a lookup. A request for a list that the command names is not.
func (n *network) looks(file string) bool {
	c := n.w.Commands[n.k]
	switch file {
	case fileName, documentName, signatureName:
		return false
	case listName:
		return c.Lookup && c.List == ""
	}
	return c.Lookup
}

// slowList is how long a slow list takes. It is longer than a download waits for a lookup if no proof is required.
const slowList = 8 * time.Second

// found makes the answer for one of the files that lookups ask for.
func (a *answer) found(name string) *http.Response {
	a.header = http.Header{"Date": {a.now()}, "Content-Type": {"text/plain"}}
	f, text := a.f, ""
	own := name == ownListName && f.List != ""
	switch {
	case f.Status != 0:
		return a.response(f.Status, 0, 0)
	case own && f.ListBy != "" && a.w.party(f.ListBy) != nil:
		return a.elsewhere(f.ListBy, name)
	case f.To != "" && !own && f.List == "": // otherwise lists are here, even if another party delivers the file
		return a.elsewhere(f.To, name)
	case own:
		if text = a.ownList(); text == "" {
			return a.response(http.StatusServiceUnavailable, 0, 0)
		}
	case name == ownListName+path.Ext(signatureName) && f.ListSig != "":
		text = a.w.listSignature(f.ListSig, f.Has)
	case name == listName && f.Says != "":
		a.log.Digest = a.w.digest(f.Says, "")
		text = listLine(a.log.Digest)
	case name == folderName && f.Index:
		a.header.Set("Content-Type", "text/html")
		var lists []string
		text, lists = f.index()
		a.log.Lists = strings.Join(lists, ",")
	case name == questionFor && f.API != "":
		a.header.Set("Content-Type", "application/json")
		text = a.assets()
	default:
		return a.response(http.StatusNotFound, 0, 0)
	}
	a.small, a.data, a.size = true, []byte(text), int64(len(text))
	return a.response(http.StatusOK, 0, a.size)
}

// elsewhere redirects to the file with this name at another party.
func (a *answer) elsewhere(party, name string) *http.Response {
	a.log.To = party
	a.header.Set("Location", strings.TrimSuffix(a.w.url(party), fileName)+strings.TrimPrefix(name, folderName))
	return a.response(http.StatusFound, 0, 0)
}

// ownList returns the list with the name of the file, or "" for status 503.
func (a *answer) ownList() string {
	f := a.f
	digest := a.w.digest(f.List, f.Has)
	switch f.ListBy {
	case "503":
		return ""
	case "page": // a server that answers every name with a page
		a.header.Set("Content-Type", "text/html")
		return listLine(digest)
	case "junk":
		return listLine(digest) + "a line of another kind\n"
	case "twice": // it contradicts itself
		a.log.Garbled = true
		return listLine(digest) + listLine(oracle.SHA256([]byte("another")))
	case "slow":
		if sleep(a.req.Context(), slowList) != nil {
			return "gone" // the request was canceled, so this is not sent
		}
	}
	a.log.Digest = digest
	return listLine(digest)
}

func listLine(digest string) string { return digest + "  " + fileName + "\n" }

// listSignature returns the signature of a list. The word is a Face.ListSig.
func (w *World) listSignature(word, has string) string {
	by := signers()[0]
	of, other := strings.CutPrefix(word, "x")
	if other {
		by = signers()[1]
	}
	return by.sign([]byte(listLine(w.digest(of, has))), ownListName)
}

// index returns the index page of the folder, as web servers make it, and the lists in it.
func (f *Face) index() (page string, lists []string) {
	if f.List != "" {
		lists = append(lists, ownListName)
	}
	if f.Says != "" {
		lists = append(lists, listName)
	}
	var b strings.Builder
	b.WriteString("<html><head><title>Index of /</title></head><body><pre><a href=\"../\">../</a>\n")
	for _, name := range append([]string{fileName}, lists...) {
		fmt.Fprintf(&b, "<a href=%q>%s</a>   01-Jan-2026 12:00    15\n", name, name)
	}
	return b.String() + "</pre></body></html>\n", lists
}

// assets returns the answer of a forge.
func (a *answer) assets() string {
	asset := map[string]any{"url": a.w.url("a"), "digest": nil}
	switch word := a.f.API; word {
	case "null":
	case "other":
		asset["url"], asset["digest"] = "https://a.example.net/1/"+fileName, "sha256:"+a.w.content("0").sum
	default:
		a.log.Digest = a.w.digest(word, "")
		asset["digest"] = "sha256:" + a.log.Digest
	}
	text, err := json.Marshal(map[string]any{"assets": []any{asset}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// founds puts lists, their signatures and a forge beside the files of a world, and makes its commands look for them.
// It uses random numbers of its own, so that the other worlds do not change.
func (m *maker) founds() {
	w := m.w
	signed, forge := m.one(8), m.one(6)
	if m.one(2) { // a server that gives a digest itself is asked for no list
		for i := range w.Parties {
			for n := range w.Parties[i].Faces {
				w.Parties[i].Faces[n].Digest = ""
			}
		}
	}
	for i := range w.Parties {
		p := &w.Parties[i]
		for n := range p.Faces {
			m.list(&p.Faces[n], signed)
		}
		last := p.Faces[len(p.Faces)-1]
		if k := m.IntN(len(w.Commands)); k > last.From && m.one(3) { // only the list changes
			last.From, last.After = k, 0
			m.list(&last, signed)
			p.Faces = append(p.Faces, last)
		}
	}
	if forge && w.party(forgeName) == nil {
		w.party("a").HTTPS = true
		f := Face{API: pick(m, "0", "0", "0", "1", "x", "null", "other")}
		switch m.IntN(6) {
		case 0:
			m.change(forgeName, &f)
		case 1: // another host answers for it
			if len(m.names) > 0 {
				f.To = pick(m, m.names...)
				p := w.party(f.To)
				p.HTTPS, p.Faces[0].API = true, f.API
			}
		}
		w.Parties = append(w.Parties, Party{Name: forgeName, HTTPS: !m.one(8), Faces: []Face{f}})
	}
	for k := range w.Commands {
		c := &w.Commands[k]
		if c.Lookup = !m.one(8); c.Sha == "x" || m.one(2) {
			c.Sha = ""
		}
		if signed && c.Do == "get" && !m.one(4) {
			c.Key, c.Bare, c.Require = true, true, pick(m, "", "signature", "signature")
		}
	}
}

// list puts a list beside the file of a face.
func (m *maker) list(f *Face, signed bool) {
	f.List, f.ListBy, f.ListSig = pick(m, "right", "right", "right", "right", "0", "1", "x", ""), "", ""
	if m.one(5) {
		f.ListBy = pick(m, append([]string{"page", "junk", "twice", "slow", "503"}, m.names...)...)
	}
	if f.Index = m.one(2); m.one(6) {
		f.Says = pick(m, f.has(), "0", "1")
	}
	if signed {
		f.ListSig = pick(m, "right", "right", f.List, "0", "1", "x0", "")
	}
}
