package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/web"
	"braid/internal/worker"
)

// enqueueing are the flags that make sense where others download.
var enqueueing = []string{"queue", "queue-creds", "queue-ca", "queue-cert", "queue-key", "input-file", "priority",
	"quiet", "verbose", "json"}

// An enqueuing is a get that puts files into the queue of a fleet in place of downloading them.
type enqueuing struct{ *getCommand }

// run puts what the operands and the list name into the queue of a fleet, and returns when it is stored there.
func (g enqueuing) run(ctx context.Context, words []string) error {
	if err := refuseOthers(ctx, enqueueing,
		"braid work --help; a list (-i) has options of its files: out=NAME, checksum=sha-256=HEX"); err != nil {
		return err
	}
	if err := g.Fleet.check("get"); err != nil {
		return err
	}
	g.screen = g.outputFlags.screen(g.streams)
	g.sites = newSites(configurationOf(ctx))
	g.Dir, g.Out = "", ""
	client, err := g.client(words)
	if err != nil {
		return err
	}
	defer client.HTTP.CloseIdle()
	jobs, err := g.jobs(ctx, client, words)
	if err != nil {
		return err
	}
	q, err := g.Fleet.open(ctx, "get", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer q.Close()
	for i := range jobs {
		if err := q.Fits(&jobs[i]); err != nil {
			return problem.Misuse(jobs[i].Name, err.Error(), "fewer places or shorter options")
		}
	}
	counts := map[fleet.News]int{}
	for _, j := range jobs {
		news, err := q.Report(ctx, j)
		if err != nil {
			return g.Fleet.failure("get", fmt.Errorf("%s: %w; what was before it is in the queue", j.Name, err))
		}
		counts[news]++
		if err := g.tell(&j, news); err != nil {
			return err
		}
	}
	if !g.Quiet {
		n := counts[fleet.Fresh] + counts[fleet.Again] + counts[fleet.Later]
		g.screen.say("%s queued; %s known already", count(n, "file"), grouped(counts[fleet.Duplicate]))
	}
	return nil
}

// queuedEvent is a job that is stored in the queue of a fleet, with --queue.
type queuedEvent struct {
	head
	Name string `json:"name"`
	Key  string `json:"key"`
	News string `json:"news"` // queued, known, queued already, or next: a worker has an earlier report of it
}

// tell shows what became of a report.
func (g enqueuing) tell(j *fleet.Job, news fleet.News) error {
	if g.JSON {
		lines := lineWriter{w: g.streams.out}
		lines.write(queuedEvent{newHead(time.Now(), "queued"), j.Name, j.Key(), news.String()})
		return outputFailure(lines.err)
	}
	g.screen.detail("%s: %s", j.Name, news)
	return nil
}

// jobs makes jobs of operands and list. What makes no sense is an error before the first is in the queue.
func (g enqueuing) jobs(ctx context.Context, client *download.Client, words []string) (jobs []fleet.Job, err error) {
	if err := g.check(words); err != nil {
		return nil, err
	}
	if err := g.prepareFor(client); err != nil {
		return nil, err
	}
	if err := g.readSums(ctx, client, nil); err != nil {
		return nil, err
	}
	l := &worklist{get: g.getCommand}
	names := namesakes{}
	add := func(e option.Entry, place string, line int) error {
		r, wrong := l.read(e)
		if wrong != nil {
			return g.Input.at(max(wrong.Line, e.Line), wrong.Name, wrong.err)
		}
		if err := names.add(&r, place, line); err != nil {
			return err
		}
		if g.Priority.Word != "" { // that of a line is the last word
			e.Options = append([]option.Setting{{Name: "priority", Value: g.Priority.Word}}, e.Options...)
		}
		j, err := jobOfEntry(e, &r)
		if err == nil {
			jobs = append(jobs, j)
		}
		return err
	}
	for i, word := range words {
		if _, err := placeURL(word); err != nil {
			return nil, err
		}
		if err := add(option.Entry{URIs: []string{word}}, fmt.Sprintf("operand %d", i+1), i-len(words)); err != nil {
			return nil, err
		}
	}
	if g.Input.InputFile == "" {
		return jobs, nil
	}
	text, err := g.Input.read(maxList)
	if err != nil {
		return nil, err
	}
	for e, err := range option.Entries(text) {
		if err != nil {
			return nil, problem.Misuse(g.Input.String(), err.Error(), "")
		}
		if err := add(e, g.Input.place(e.Line), e.Line); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// jobOfEntry is the job of an entry, whose request is r. Its name is below the folder of the workers, and no secret is in it.
func jobOfEntry(e option.Entry, r *download.Request) (fleet.Job, error) {
	place := maskWord(e.URIs[0])
	name, err := r.Path()
	if err != nil {
		return fleet.Job{}, problem.Misuse(place, err.Error(), "out=NAME in a list names the file")
	}
	j := fleet.Job{Name: filepath.ToSlash(name), URIs: e.URIs}
	sum := sha256.New()
	for _, o := range e.Options {
		option, _ := option.InList(o.Name)
		field, _, _ := strings.Cut(o.Value, ":")
		if option == "user" || option == "header" && !web.ForAnyServer(strings.TrimSpace(field)) || hasUser(o.Value) {
			return j, problem.Misuse(place+": "+o.Name, "passwords do not go into the queue",
				"[site] in the settings of the workers")
		}
		switch option {
		case "out", "dir":
		case "priority":
			j.Priority = fleet.ParsePriority(o.Value)
		default:
			j.Options = append(j.Options, fleet.Option{Name: o.Name, Value: o.Value})
			fmt.Fprintf(sum, "%q %q\n", o.Name, o.Value)
		}
	}
	for _, word := range e.URIs {
		if hasUser(word) {
			return j, problem.Misuse(place, "passwords do not go into the queue",
				"[site] in the settings of the workers")
		}
		fmt.Fprintf(sum, "%q\n", word)
	}
	j.Version = fmt.Sprintf("%.8x", sum.Sum(nil))
	if !filepath.IsLocal(name) || r.RemoteName && r.Name == "" || r.Rename {
		return j, problem.Misuse(place, "its name below the folder of the workers is not known",
			"out=NAME, and dir=FOLDER without a / before it")
	}
	if err := worker.CheckName(j.Name); err != nil {
		return j, problem.Misuse(place, err.Error(), "out=NAME in a list names the file")
	}
	return j, nil
}

// hasUser reports whether a word is a URL with a name, or with a password, too.
func hasUser(word string) bool {
	u, err := url.Parse(word)
	return err == nil && u.User != nil
}
