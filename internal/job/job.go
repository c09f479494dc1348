// Package job converts options to download requests. The options are from the command line and the environment, the
// user's settings with their rules for sites, and the entries of lists and queues.
//
// [Defaults] holds the options for all downloads of a run. [Defaults.Request] returns the request for one entry,
// [NewList] the requests for operands and a list (-i), and [Jobs] the jobs for a fleet.
//
//	d := &job.Defaults{}
//	d.HTTP.Sites = job.NewSites(settings)
//	client, err := d.Client()
//	...
//	if err := d.Prepare(client); err != nil {
//	...
//	r, err := d.Request(option.Entry{URIs: []string{"https://example.org/a.iso"}})
//
// This package reads files that options name. It downloads only lists, documents and their signatures, and prints nothing.
package job
