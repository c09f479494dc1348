package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"braid/daemon/queue"
	"braid/internal/agents/aria2c"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/internal/service"
)

// An aria2Command is one run of the program under the name aria2c. It works like braid get, or like braid daemon.
type aria2Command struct {
	streams
	call *aria2c.Call
	get  *getCommand
}

func newAria2(s streams) *aria2Command {
	a := &aria2Command{streams: s, call: aria2c.New(s.in, s.out, s.err), get: newGetCommand(s)}
	a.get.ended, a.get.reword = a.call.Ended, aria2c.Words
	return a
}

func runAria2c(ctx context.Context, words []string, s streams) int {
	a := newAria2(s)
	err := a.run(ctx, words)
	if f, ok := err.(*problem.Problem); ok {
		fmt.Fprintln(s.err, render.ErrorLine(f))
		a.call.Fail(f)
	}
	a.call.ShowResults(a.get.Quiet)
	if wrong := a.call.SaveSession(); wrong != nil {
		fmt.Fprintln(s.err, render.ErrorLine(wrong))
	}
	code, failed := errors.AsType[reported](err)
	return a.call.Code(failed, exitKind(int(code)))
}

func (a *aria2Command) run(ctx context.Context, words []string) error {
	if err := a.call.Parse(words); err != nil {
		return err
	}
	switch {
	case a.call.Has("version"):
		_, err := fmt.Fprintf(a.out, "aria2 version %s\nThis is braid %s under the name of aria2c; "+
			"braid --help shows its own commands.\n", aria2c.Version, thisBuild())
		return outputFailure(err)
	case a.call.Has("help"):
		return outputFailure(aria2c.WriteHelp(a.out))
	}
	if err := a.call.Configure(); err != nil {
		return err
	}
	work := a.get.run
	if a.call.Is("enable-rpc") {
		if err := a.call.CheckRPC(); err != nil {
			return err
		}
		work = a.serve
	}
	list, documents, err := a.call.List()
	if err != nil {
		return err
	}
	l, err := a.options()
	if err != nil {
		return err
	}
	a.get.Job.Input = list
	hint := "" // the parser's hints name options of braid
	err = l.parse(context.WithValue(ctx, configurationKey{}, l.configuration), l.targets,
		func(ctx context.Context, _ []string) error {
			err := work(ctx, documents)
			if f, ok := errors.AsType[*problem.Problem](err); ok {
				hint = aria2c.Words(f.Hint)
			}
			return err
		})
	if f, ok := errors.AsType[*problem.Problem](err); ok {
		f.Where, f.Hint = aria2c.Option(f.Where), hint
		return f
	}
	return err
}

// An aria2Run is a command line of braid get, translated from one of aria2c.
type aria2Run struct {
	line
	targets targets
}

// options translates aria2c's options to flags of braid get. Braid's settings for servers and verification apply. Braid's
// settings for names, folders and output do not apply, because the program that called aria2c does not know them.
func (a *aria2Command) options() (*aria2Run, error) {
	command, _ := option.Braid().Below("get")
	r := &aria2Run{line: line{command: command}, targets: targetsOf(a.get)}
	r.command.Options = slices.DeleteFunc(command.Options, func(o option.Option) bool {
		return o.Group == option.OutputGroup || o.Group == option.FileGroup && o.Name() != "max-size" ||
			o.Name() == "proxy" && a.call.Proxied()
	})
	var given arranged
	for _, f := range a.call.Flags() {
		if slices.ContainsFunc(r.command.Options, func(known option.Option) bool { return known.Name() == f.Name }) {
			given.flags = append(given.flags, "--"+f.Name+"="+f.Value)
		} else if err := r.targets.set(f.Name, f.Value); err != nil {
			return nil, problem.Misuse("--"+f.For, err.Error(), "")
		}
	}
	own, err := a.call.Apply(a.get.Job)
	if err != nil {
		return nil, err
	}
	for _, f := range own {
		given.flags = append(given.flags, "--"+f.Name+"="+f.Value)
	}
	a.output()
	if err := checkEnvironment(r.command.Options, &given); err != nil {
		return nil, err
	}
	if err := r.configure(&given); err != nil {
		return nil, err
	}
	r.args = given.args()
	return r, nil
}

// output sets the verbosity and the progress display of a.get.
func (a *aria2Command) output() {
	g := a.get
	o := a.call.Output(g.terminal)
	g.Quiet, g.Verbose = g.Quiet || o.Quiet, g.Verbose || o.Verbose
	switch {
	case o.NoProgress:
		g.Progress.Word = render.ProgressNone
	case o.Meter != nil:
		g.meter = o.Meter
	default:
		g.meter = render.NewMeter(render.ProgressBar, a.err)
	}
}

// set sets the variable of an option to value, as the flag parser does.
func (t targets) set(option, value string) error {
	switch to := t.of(option).(type) {
	case *string:
		*to = value
	case *bool:
		*to = value == "true"
	case *choice:
		return to.Set(value)
	case cli.Generic:
		return to.Set(value)
	}
	return nil
}

// serve implements --enable-rpc: it runs braid daemon in the foreground with the downloads in its queue.
func (a *aria2Command) serve(ctx context.Context, documents []string) error {
	d, err := a.daemon()
	if err != nil {
		return err
	}
	entries, err := a.call.Entries(d.Job.Dir, d.Root, documents)
	if err != nil {
		return err
	}
	d.service.First = func(q *queue.Queue) error { return aria2c.Enqueue(q, entries) }
	ctx, stop := within(ctx, time.Duration(a.get.MaxTime))
	defer stop()
	return d.operate(ctx, a.call.Value("rpc-secret"))
}

// daemon returns the daemon that the options describe. Daemons with different ports have different queues.
func (a *aria2Command) daemon() (*daemonCommand, error) {
	d := &daemonCommand{Job: a.get.Job, streams: a.get.streams, outputFlags: a.get.outputFlags,
		MaxConcurrentDownloads: a.get.MaxConcurrentDownloads, Fleet: a.get.Fleet, RPCListenPort: 6800,
		RPCListenAll: a.call.Is("rpc-listen-all")}
	d.service = &service.Service{Job: a.get.Job, Empty: true, Files: a.call.Files(),
		Server: service.Server{TokenFrom: "--rpc-secret"}}
	if v := a.call.Value("rpc-listen-port"); v != "" {
		if err := d.RPCListenPort.Set(v); err != nil {
			return nil, problem.Misuse("--rpc-listen-port", err.Error(), "")
		}
	}
	if v := a.call.Value("lowest-speed-limit"); v != "" { // by default there is no limit, as in aria2
		if err := d.LowestSpeedLimit.Set(v); err != nil {
			return nil, problem.Misuse("--lowest-speed-limit", err.Error(), "")
		}
	}
	if a.call.Is("rpc-allow-origin-all") {
		d.RPCAllowOrigin = option.WordsValue{"*"}
	}
	if a.call.Is("rpc-secure") {
		d.serverTLS = serverTLS{TLSCert: a.call.Value("rpc-certificate"), TLSKey: a.call.Value("rpc-private-key")}
	}
	if own := job.StateFolder(); own != "" {
		d.State = filepath.Join(own, "aria2c-"+d.RPCListenPort.String())
	}
	if err := d.place(); err != nil {
		return nil, err
	}
	if d.MaxConcurrentDownloads == 0 {
		d.MaxConcurrentDownloads = aria2AtOnce
	}
	if file := a.call.Value("save-session"); file != "" {
		session, err := filepath.Abs(file)
		if err != nil {
			return nil, problem.Local("session", file, err)
		}
		d.service.Session = session
	}
	return d, nil
}

// aria2AtOnce is the number of concurrent downloads without -j. Clients of aria2 expect an added download to start immediately.
const aria2AtOnce = 5
