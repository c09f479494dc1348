package rpc

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"

	"braid/daemon/queue"
	"braid/internal/mask"
	"braid/metalink"
	"braid/metalink/metainfo"
)

func refuse(format string, args ...any) error { return &fault{1, fmt.Sprintf(format, args...)} }

// add adds e to the queue with the given options. position is its place among the waiting entries.
func (v *visit) add(e queue.Entry, options map[string]string, position int) (queue.GID, error) {
	options, err := v.checked(options, e.URIs, nil)
	if err != nil {
		return 0, err
	}
	if options["pause"] == "true" {
		e.Status = queue.Paused
	}
	if word := options["gid"]; word != "" {
		g, ok := queue.ParseGID(word)
		if !ok {
			return 0, refuse("Invalid GID %s", word)
		}
		e.GID = g
	}
	delete(options, "pause") // pause and gid apply to this call only
	delete(options, "gid")
	delete(options, sessionOption) // a global option
	maps.DeleteFunc(options, v.settings.saysNothing)
	// A later change of the global folder must not move this download.
	if dir := v.queue.Global()["dir"]; dir != "" && options["dir"] == "" {
		options["dir"] = dir
	}
	e.Options = options
	return v.queue.Add(v.now, e, position)
}

func (v *visit) addURI(p *params) (any, error) {
	uris, options, position := p.strings(0, true), p.options(1, false), p.position(2)
	if p.err != nil {
		return nil, p.err
	}
	if len(uris) == 0 {
		return nil, refuse("URI is not provided.")
	}
	uris, err := v.secrets.knownURIs(uris)
	if err != nil {
		return nil, err
	}
	if len(uris) == 0 {
		return nil, refuse("No URI to download.")
	}
	g, err := v.add(queue.Entry{URIs: uris}, options, position)
	return g.String(), err
}

// document decodes parameter i, which is in base64. If that fails, otherwise becomes the error. It is aria2's message.
func (p *params) document(i int, otherwise string) []byte {
	data, err := base64.StdEncoding.DecodeString(p.text(i))
	if err != nil {
		p.fail("%s", otherwise)
	}
	return data
}

func (v *visit) addTorrent(p *params) (any, error) {
	data, uris, options, position := p.document(0, "Bencode decoding failed"), p.strings(1, false),
		p.options(2, false), p.position(3)
	if p.err != nil {
		return nil, p.err
	}
	if !metainfo.Looks(data) {
		return nil, refuse("Bencode decoding failed")
	}
	t, err := metainfo.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if len(t.Files) > 1 && options["signature"] != "" {
		return nil, errSigned
	}
	if uris, err = v.secrets.knownURIs(uris); err != nil {
		return nil, err
	}
	g, err := v.add(queue.Entry{URIs: uris, Document: data}, options, position)
	return g.String(), err
}

var errSigned = refuse("A signature is of one file, but the document has several.")

// addMetalink adds an entry for each file that a Metalink document describes. Each entry gets a document with only its file.
func (v *visit) addMetalink(p *params) (any, error) {
	const bad = "Could not parse Metalink XML document."
	data, options, position := p.document(0, bad), p.options(1, false), p.position(2)
	if p.err != nil {
		return nil, p.err
	}
	d, err := metalink.Read(bytes.NewReader(data))
	if err != nil {
		return nil, refuse("%s %v", bad, err)
	}
	checked, err := v.checked(options, nil, nil)
	if err != nil {
		return nil, err
	}
	dir := cmp.Or(checked["dir"], v.settings.folder())
	gids, numbers := []string{}, checked["select-file"]
	delete(options, "select-file") // in each entry's document, the file is the only one
	for i, f := range d.Files {
		if !queue.Selected(numbers, i+1) {
			continue
		}
		e := queue.Entry{Document: data, Path: filepath.Join(dir, filepath.FromSlash(f.Name))}
		if len(d.Files) > 1 {
			if e.Document, err = metalink.Format(metalink.Document{Origin: d.Origin, Files: []metalink.File{f}}); err != nil {
				return nil, err
			}
			delete(options, "out")
			if options["signature"] != "" {
				return nil, errSigned
			}
		}
		g, err := v.add(e, options, position)
		if err != nil {
			return nil, err
		}
		delete(options, "gid") // gid applies to the first entry only
		if gids = append(gids, g.String()); position >= 0 {
			position++
		}
	}
	if len(d.Files) == 0 && len(d.Refused) > 0 {
		return nil, refuse("document, file %s: %s", mask.Escape(d.Refused[0].Name), d.Refused[0].Reason)
	}
	if len(gids) == 0 {
		return nil, refuse("The document has no file %s.", numbers)
	}
	return gids, nil
}
