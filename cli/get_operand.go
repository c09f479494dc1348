package cli

import (
	"context"

	"braid/download"
	"braid/internal/job"
	"braid/source"
)

// severalInOne downloads the files of a document that a server sent in place of the requested file.
func (g *getCommand) severalInOne(ctx context.Context, client *download.Client, d *download.Document, r download.Request) int {
	list, err := job.NewListOf(g.Job, d, r)
	if err != nil {
		return g.told(ctx, err)
	}
	return g.all(ctx, client, list)
}

// showNotes shows the notes of documents and the files in them that cannot be downloaded. It returns the exit
// code of the latter.
func (g *getCommand) showNotes(ctx context.Context, list *job.List) int {
	code := exitDone
	tell := func(say func(string, ...any), notes []string) {
		for _, n := range notes {
			say("%s", n)
			g.lines.Note(source.Escape(n))
		}
	}
	tell(g.screen.Say, list.Warnings)
	tell(g.screen.Detail, list.Notes)
	for _, err := range list.Lost {
		f := downloadProblem(ctx, err)
		g.report(f)
		code = batchCode([]int{code, exitCode(f)})
	}
	return code
}
