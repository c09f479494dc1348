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
	JSON bool // used by the command list
}

// newTrust returns a function that creates a trustCommand. The action of the command is run.
func newTrust(run func(*trustCommand, context.Context, []string) error) func(streams) (action, targets) {
	return func(s streams) (action, targets) {
		k := &trustCommand{streams: s}
		return func(ctx context.Context, words []string) error { return run(k, ctx, words) }, targetsOf(k)
	}
}

// add records keys, the later words, for the URL in words[0].
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

// remove removes the keys that the later words name from the URL in words[0], or all its keys if words names none.
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

// isFile reports whether word is the path of the file that contained key when it was recorded.
func isFile(key *option.TrustedKey, word string) bool {
	path, err := filepath.Abs(word)
	return key.Name != "" && (word == key.Name || err == nil && path == key.Name)
}

// isKeyName reports whether word is name, the name of a key, or the fingerprint at the beginning of name.
func isKeyName(name, word string) bool {
	fingerprint, _, _ := strings.Cut(name, ", ")
	return word == name || strings.EqualFold(word, fingerprint)
}

// list shows all URLs that have recorded keys, with these keys.
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

// trustEvent is a URL that has recorded keys. Each file at or below the URL must be signed with one of these keys.
type trustEvent struct {
	render.Head
	URL  string        `json:"url"`
	Keys []trustedLine `json:"keys"`
}

// trustedLine is a file with keys that was recorded, or one key that was recorded as text.
type trustedLine struct {
	Kind  string   `json:"kind"`  // such as "minisign" or "OpenPGP"; empty if braid cannot use the key
	Names []string `json:"names"` // fingerprint or ID, and owner, of each key
	Added string   `json:"added"` // date of the recording, as 2026-11-28
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

// show shows the keys that apply to the URL in words.
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

// keyRows returns a table row for each key of b: kind, names, date, file.
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

// boundOf parses word, a URL to record keys for.
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
