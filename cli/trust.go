package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/source"
)

// A trustCommand is one run of braid trust: add, list, remove or show.
type trustCommand struct {
	streams
	JSON bool // for the command list
}

// newTrust returns a function that creates a command with the action run.
func newTrust(run func(*trustCommand, context.Context, []string) error) func(streams) (action, targets) {
	return func(s streams) (action, targets) {
		k := &trustCommand{streams: s}
		return func(ctx context.Context, words []string) error { return run(k, ctx, words) }, targetsOf(k)
	}
}

// add binds a URL to keys.
func (k *trustCommand) add(ctx context.Context, words []string) error {
	if len(words) < 2 {
		return problem.Misuse("trust add", "missing URL or key", "write braid trust add https://example.org/ KEY")
	}
	b, err := boundOf(words[0])
	if err != nil {
		return err
	}
	for _, word := range words[1:] {
		added, err := job.TrustKey(b, word, time.Now())
		if err != nil {
			return err
		}
		if !added {
			k.tell("%s: the key is already recorded", b.URL)
		}
	}
	k.tell("%s: from now on, files from this URL and below need a signature by a recorded key", b.URL)
	return nil
}

// remove removes the named keys of a URL, or all its keys.
func (k *trustCommand) remove(ctx context.Context, words []string) error {
	if len(words) == 0 {
		return problem.Misuse("trust remove", "no URL", "list all URLs and keys with braid trust list")
	}
	b, err := boundOf(words[0])
	if err != nil {
		return err
	}
	removed, left, err := job.UntrustKeys(b, func(key option.TrustedKey) bool {
		_, names := job.KeyNames(&key)
		return len(words) == 1 || slices.ContainsFunc(words[1:], func(word string) bool {
			return isFile(&key, word) || slices.ContainsFunc(names, func(name string) bool { return isKeyName(name, word) })
		})
	})
	switch {
	case err != nil:
		return err
	case removed == 0:
		return problem.Local("trust", b.URL, errNotRecorded).WithHint("list all URLs and keys with braid trust list")
	case left == 0:
		k.tell("%s: no key is recorded for this URL any more", b.URL)
	default:
		k.tell("%s: %s removed, %s left", b.URL, option.Count(removed, "key"), option.Count(left, "key"))
	}
	return nil
}

var errNotRecorded = errors.New("no such key is recorded for exactly this URL")

// isFile reports whether word is the path of the file that contained a key when it was recorded.
func isFile(key *option.TrustedKey, word string) bool {
	path, err := filepath.Abs(word)
	return key.Name != "" && (word == key.Name || err == nil && path == key.Name)
}

// isKeyName reports whether word is the name of a key, or the fingerprint with which that name begins.
func isKeyName(name, word string) bool {
	fingerprint, _, _ := strings.Cut(name, ", ")
	return word == name || strings.EqualFold(word, fingerprint)
}

// list shows all URLs with their keys.
func (k *trustCommand) list(ctx context.Context, words []string) error {
	if len(words) > 0 {
		return problem.Misuse("trust list", "takes no operand", "for the keys of one URL, use braid trust show URL")
	}
	trust := configurationOf(ctx).Trust
	if text := configurationOf(ctx).Warning(); text != "" {
		k.tell("%s", text)
	} else if !trust.Any() && !k.JSON {
		k.tell("no key is recorded for any URL")
	}
	if k.JSON {
		return k.writeJSON(trust)
	}
	if !trust.Any() {
		return nil
	}
	var lines []string
	for i := range trust.Bounds {
		lines = append(lines, trust.Bounds[i].URL)
		lines = append(lines, render.Columns(keyRows(&trust.Bounds[i]))...)
	}
	return printLines(k.out, lines)
}

// trustEvent: keys are recorded for a URL and all URLs below it. One of the keys must have signed each file from there.
type trustEvent struct {
	render.Head
	URL  string        `json:"url"`
	Keys []trustedLine `json:"keys"`
}

// trustedLine is a file with keys, or the text of a key.
type trustedLine struct {
	Kind  string   `json:"kind"`  // as "minisign" or "OpenPGP"; empty if braid cannot use it
	Names []string `json:"names"` // fingerprint or ID, and owner, of each key in it
	Added string   `json:"added"` // the date, as 2026-11-28
	File  string   `json:"file,omitempty"`
}

// writeJSON writes the URLs and their keys as lines of JSON.
func (k *trustCommand) writeJSON(trust *option.Trust) error {
	lines := render.NewJSONWriter(k.out)
	if !trust.Any() {
		return nil
	}
	for i := range trust.Bounds {
		b := &trust.Bounds[i]
		ev := trustEvent{Head: render.NewHead(time.Now(), "trust"), URL: b.URL, Keys: []trustedLine{}}
		for j := range b.Keys {
			kind, names := job.KeyNames(&b.Keys[j])
			ev.Keys = append(ev.Keys, trustedLine{kind, append([]string{}, names...), b.Keys[j].Added, b.Keys[j].Name})
		}
		lines.Write(ev)
	}
	return outputFailure(lines.Err())
}

// show shows the keys of a URL.
func (k *trustCommand) show(ctx context.Context, words []string) error {
	if len(words) != 1 {
		return problem.Misuse("trust show", "needs exactly one URL", "list all URLs and keys with braid trust list")
	}
	u, err := job.ParseURL(words[0])
	if err != nil {
		return err
	}
	if text := configurationOf(ctx).Warning(); text != "" {
		k.tell("%s", text)
	}
	b, err := configurationOf(ctx).Trust.Of(u)
	switch {
	case err != nil:
		return problem.Misuse(source.Mask(u), err.Error(), "")
	case b == nil:
		return &problem.Problem{
			Kind: download.NoEvidence, What: "trust", Where: source.Mask(u), Why: "no key is recorded for this URL",
			Hint: "record a key with braid trust add URL KEY",
		}
	}
	return printLines(k.out, append([]string{b.URL}, render.Columns(keyRows(b))...))
}

// keyRows returns a row for each key: kind, names, date, file.
func keyRows(b *option.Bound) (rows [][]string) {
	for i := range b.Keys {
		key := &b.Keys[i]
		kind, names := job.KeyNames(key)
		if kind == "" {
			kind, names = "unusable", []string{"braid trust remove " + b.URL}
		}
		for _, name := range names {
			rows = append(rows, []string{"  " + kind, name, key.Added, key.Name})
		}
	}
	return rows
}

// boundOf parses a URL to which keys are bound.
func boundOf(word string) (option.Bound, error) {
	b, err := option.NewBound(word)
	if err == nil {
		return b, nil
	}
	hint := ""
	if job.LooksLikeHost(word) {
		hint = "https://" + job.MaskWord(word) + "?"
	}
	return b, problem.Misuse(job.MaskWord(word), err.Error(), hint)
}

func (k *trustCommand) tell(format string, args ...any) {
	fmt.Fprintln(k.err, source.Escape(fmt.Sprintf(format, args...)))
}
