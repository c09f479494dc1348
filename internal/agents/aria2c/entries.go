package aria2c

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"braid/daemon/queue"
	"braid/daemon/rpc"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/service"
	"braid/metalink/metainfo"
)

// CheckRPC rejects options that would give other users access, and options that do not work with --enable-rpc.
func (c *Call) CheckRPC() error {
	const insecure = "in a private network, --rpc-insecure, which aria2c does not have"
	secret, all, secure := c.Value("rpc-secret"), c.Is("rpc-listen-all"), c.Is("rpc-secure")
	switch {
	case all && secret == "":
		return problem.Misuse("--rpc-listen-all", "without a secret, all on the network could use it", "--rpc-secret WORD")
	case all && !secure && !c.Is("rpc-insecure"):
		return problem.Misuse("--rpc-listen-all", "the secret would cross the network unencrypted",
			"--rpc-secure with --rpc-certificate and --rpc-private-key; "+insecure)
	case c.Is("rpc-allow-origin-all") && secret == "":
		return problem.Misuse("--rpc-allow-origin-all", "without a secret, every web page that you open could control the daemon",
			"--rpc-secret WORD")
	case secure && c.Value("rpc-certificate") == "":
		return problem.Misuse("--rpc-secure", "needs a certificate", "--rpc-certificate FILE")
	case c.Value("rpc-user")+c.Value("rpc-passwd") != "":
		return problem.Misuse("--rpc-user", "the server does not request a name and password", "--rpc-secret WORD")
	case c.Is("dry-run"):
		return problem.Misuse("--dry-run", "contradicts --enable-rpc", "")
	}
	return nil
}

// Entries converts the list and the documents to entries of a daemon's queue. The files of the entries go to dir unless
// the entries name another folder, and must stay below root.
func (c *Call) Entries(dir, root string, documents []string) (entries []queue.Entry, err error) {
	for listed, err := range option.Entries(c.results.list) {
		if err != nil {
			return nil, misuse(c.Value("input-file"), err)
		}
		options := map[string]string{"dir": dir}
		for _, s := range listed.Options {
			if had := options[s.Name]; had != "" && slices.Contains(repeated, s.Name) {
				s.Value = had + "\n" + s.Value
			}
			options[s.Name] = s.Value
			if rpc.OfAll(s.Name, s.Value) {
				return nil, problem.Misuse(c.Value("input-file"),
					s.Name+": all downloads of a daemon have the same proxy", "--"+s.Name+" on the command line")
			}
		}
		if options["dir"], err = filepath.Abs(cmp.Or(options["dir"], dir)); err != nil {
			return nil, err
		}
		if below, err := filepath.Rel(root, options["dir"]); err != nil || !filepath.IsLocal(below) {
			return nil, service.Outside(options["dir"], root)
		}
		e := queue.Entry{URIs: listed.URIs, Options: options}
		e.GID, _ = queue.ParseGID(options["gid"])
		if options["pause"] == "true" {
			e.Status = queue.Paused
		}
		delete(options, "gid")
		delete(options, "pause")
		entries = append(entries, e)
	}
	for _, word := range documents {
		e := queue.Entry{Options: map[string]string{"dir": dir}}
		if metainfo.IsMagnet(word) {
			e.URIs = []string{word}
		} else if e.Document, err = job.ReadFile("document", word, 8<<20); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// repeated are the options of an entry with several values.
var repeated = []string{"header", "mirror", "not-host"}

// Enqueue adds the entries to the queue. An entry with the GID of another gets a new one, so that the next session has it.
func Enqueue(q *queue.Queue, entries []queue.Entry) (err error) {
	for _, e := range entries {
		if _, taken := q.Entry(e.GID); taken {
			e.GID = 0
		}
		_, wrong := q.Add(time.Now(), e, -1)
		err = errors.Join(err, wrong)
	}
	return err
}
