package cli

import (
	"braid/download"
	"braid/objectstore"
)

// agent returns the name and version of this program for object stores.
func agent() string { return "braid/" + thisBuild().version }

// objectMisuses returns the misuses of flags with a destination in an object store.
func (g *getCommand) objectMisuses() []wrongUse {
	if g.Job.To == "" && !objectstore.IsURL(g.Job.Out) {
		return nil
	}
	what := "--to"
	if g.Job.To == "" {
		what = "-o"
	}
	return []wrongUse{
		{g.Job.To != "" && !objectstore.IsURL(g.Job.To), "--to", "not a place in an object store",
			"--to s3://BUCKET/PREFIX/; -d FOLDER puts files into a folder"},
		{g.Job.To != "" && objectstore.IsURL(g.Job.Out), "--to", "contradicts -o s3://...",
			"-o NAME is below the prefix of --to"},
		{g.Job.To != "" && g.Job.Out == "-", "--to", "the file goes to standard output", ""},
		{g.Job.Dir != "", what, "contradicts -d", ""},
		{g.Job.Rename, "--rename", "an object has the name that it is given",
			"--overwrite replaces it, --no-clobber leaves it as it is"},
		{g.Job.Newer.RemoteTime, "--remote-time", "an object has no date of its own",
			"the server's stands in NAME.evidence.json beside it"},
		{g.Job.Refresh, "--refresh", "goes on with a part file, and an upload has none", ""},
		{g.Job.Peers.Seeds(), "--seed-time", "the file is not on this disk", ""},
	}
}

// keptIn describes where the part of a file was kept.
func keptIn(e *download.Error) string {
	if objectstore.IsURL(e.Part) {
		return "uploaded to " + e.Part + ", where nothing is visible yet"
	}
	return "kept in " + e.Part
}
