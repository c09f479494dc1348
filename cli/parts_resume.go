package cli

import (
	"context"
	"errors"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/partfile"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
	"braid/source"
)

// A partsResume is one run of "braid parts resume". It runs braid get with the URLs in the journals of part files.
type partsResume struct {
	get      *getCommand
	complete []string // files that were already complete, with only their journal left
	lost     []error
}

func newPartsResume(s streams) (action, targets) {
	v := &partsResume{get: newGetCommand(s)}
	return v.run, targetsOf(v.get)
}

func (v *partsResume) run(ctx context.Context, words []string) error {
	g := v.get
	g.Job.HTTP.Sites = job.NewSites(configurationOf(ctx))
	found := v.find(ctx, words)
	var urls []string
	for _, r := range found {
		urls = append(urls, r.URL())
	}
	return g.carryOut(ctx, urls, func(ctx context.Context, client *download.Client) (*job.List, error) {
		l, err := job.NewResumedList(ctx, g.Job, client, found, v.lost)
		if err != nil {
			return nil, err
		}
		for _, word := range v.complete {
			g.screen.Say("%s: already complete", source.Escape(partfile.NameOf(word)))
		}
		if l.Files+len(l.Lost)+len(v.complete) == 0 {
			g.screen.Say("no unfinished downloads here")
		}
		return l, nil
	})
}

// find returns the downloads that words name. Without words, it returns all downloads in the current folder that can be
// resumed.
func (v *partsResume) find(ctx context.Context, words []string) (found []job.Resumable) {
	if len(words) == 0 {
		left, _, err := partfile.List(fsys.OS, ".")
		if err != nil {
			v.lost = []error{problem.Local("parts", ".", err)}
			return nil
		}
		for _, l := range left {
			if !l.InUse {
				words = append(words, l.Path)
			}
		}
	}
	for _, word := range words {
		if objectstore.IsURL(word) {
			v.lost = append(v.lost, &problem.Problem{
				Kind: download.Usage, What: "resume", Where: word,
				Why:  "an upload is resumed by the command that began it",
				Hint: "run braid get -o " + word + " URL again; braid parts shows the URL",
			})
			continue
		}
		dir, name := placeOfPart(word)
		done, err := job.Settle(ctx, v.get.Job, dir, name, v.get.DryRun)
		if done {
			v.complete = append(v.complete, word)
			continue
		}
		var r job.Resumable
		if err == nil {
			r, err = job.ResumableAt(dir, name)
		}
		if f, ok := errors.AsType[*problem.Problem](err); ok {
			f.Where = word
			v.lost = append(v.lost, f)
		} else if err != nil {
			v.lost = append(v.lost, partFailure("resume", word, err))
		} else {
			found = append(found, r)
		}
	}
	return found
}
