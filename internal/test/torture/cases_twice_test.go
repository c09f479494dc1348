//go:build linux

package torture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"braid/internal/test/mirrortest"
)

// before starts the client in the world, as a run before the one that is judged, and lets it go on until its part file has some
// bytes. It is killed then, or when the case ends.
func (w *world) before(kill bool) {
	args, ok := chosen().line(w.req)
	if !ok || chosen().name != "braid" {
		return
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = w.yard.work, append(environment(w.yard), w.env...)
	check(w.t, cmd.Start())
	end := func() {
		cmd.Process.Kill() // it may have ended
		cmd.Wait()
	}
	w.t.Cleanup(end)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		info, err := os.Stat(filepath.Join(w.yard.work, fileName+".part"))
		if err == nil && blocks(info) > 0 {
			break
		}
		if time.Now().After(deadline) {
			w.t.Fatal("the run before got nowhere")
		}
	}
	if kill {
		end()
	}
}

// twices are runs beside another one, or after one that was killed (rules 6 and 9).
func twices() (all []torment) {
	for does, options := range map[string][]option{
		"of a slow server": {mirrortest.ETag(`"v"`)}, "of one without ranges": {mirrortest.IgnoreRange()},
		"of one that does not say how long the file is": {mirrortest.Chunked()},
	} {
		all = append(all, torment{"6", "a run was killed in the middle, " + does, func(w *world) {
			s := w.ask(w.serve(append(options, mirrortest.Rate(slow))...))
			w.req.sha256, w.req.alone = w.hex(), true
			w.before(true)
			s.Set(mirrortest.Unlimited())
		}, isRight})
	}
	return append(all,
		torment{"6", "a run was killed in the middle, and the file has changed since", func(w *world) {
			s := w.ask(w.serve(mirrortest.Digest(anotherDigest()), mirrortest.Rate(slow)))
			w.req.alone = true
			w.before(true)
			s.Set(mirrortest.Unlimited(), mirrortest.Digest(content.Digest()))
		}, isRight},
		torment{"9", "another run is at the same file", func(w *world) {
			w.ask(w.serve(mirrortest.Rate(10_000), mirrortest.Digest()))
			w.req.alone = true
			w.before(false)
		}, fails(3, "in use")},
	)
}

// remoteNames are names that a server gives to its file, where the user wants that (rules 10 and 11).
func remoteNames() (all []torment) {
	for _, c := range []struct {
		value string
		want  want
		name  string
	}{
		{`attachment; filename="fine.bin"`, isUnverified, "fine.bin"},
		{`attachment; filename="fine.bin"; filename*=UTF-8''..%2f..%2fevil`, fails(3, "name"), ""},
		{`attachment; filename="../../evil"`, fails(3, "name"), ""},
		{`attachment; filename="/etc/braid-evil"`, fails(3, "name"), ""},
		{`attachment; filename=/etc/braid-evil`, isUnverified, fileName}, // no token (RFC 6266, section 4.1), so no name
		{`attachment; filename*=UTF-8''%2e%2e%2fevil`, fails(3, "name"), ""},
		{`attachment; filename=.bashrc`, fails(3, "name"), ""},
		{`attachment; filename="CON"`, fails(3, "name"), ""},
		{`attachment; filename*=UTF-8''%e2%80%aeexe.txt`, fails(3, "name"), ""},
		{`attachment; filename*=UTF-8''%1b%5d0%3bx%07`, fails(3, "name"), ""},
		{`attachment; filename*=ISO-8859-1''%ff`, isUnverified, fileName},
		{`attachment; filename="` + way + `/evil"`, fails(3, "name"), ""},
		{`attachment; filename=`, isUnverified, fileName},
		{`attachment; filename="a"; filename="../b"`, isUnverified, fileName},
		{";;;,\"", isUnverified, fileName},
	} {
		all = append(all, torment{"11", fmt.Sprintf("is asked for the name, and says %.50q", c.value), func(w *world) {
			w.ask(w.serve(mirrortest.Header("Content-Disposition", c.value)))
			w.req.noName, w.req.flags = true, []string{"--remote-name"}
			if w.req.names = []string{c.name}; c.name == "" {
				w.req.names = []string{"none"}
			}
		}, c.want})
	}
	return append(all, torment{"11", "is asked for the name, and redirects to one that leads elsewhere", func(w *world) {
		to := w.serve(mirrortest.Handler(page("evil")))
		w.ask(w.serve(mirrortest.Redirect("http://" + to.Addr + "/..%2fevil")))
		w.req.noName, w.req.flags, w.req.names = true, []string{"--remote-name"}, []string{"none"}
	}, fails(3, "name")})
}

// triggers are feeds that report what is not so, to a watch (rule 56).
func triggers() (all []torment) {
	watch := func(feed, limits string, options ...option) func(*world) {
		return func(w *world) {
			s := w.serve(options...)
			text := w.fill("@FILE { URL\nLast-Modification-Time{10}:\t1700000001\nUpdate-Time{10}:\t1700000001\n"+feed+
				"}\n", s.URL)
			config := fmt.Sprintf("state = %q\n[feed.f]\nfile = %q\n%s\n[watch.w]\nurl = %q\ndir = %q\n",
				filepath.Join(w.yard.home, "watch"),
				w.beside("feed.soif", []byte(text)), limits, s.URL, w.yard.work)
			w.write(fileName, []byte("the old one"))
			w.req.command, w.req.names = []string{"watch", "--once", "-v", w.beside("watch.toml", []byte(config))},
				[]string{fileName}
		}
	}
	return append(all,
		torment{"56", "watch: a feed reports a file that nothing proves", watch("", ""), fails(12, "digest")},
		torment{"56", "watch: a feed reports a file whose bytes are wrong", watch("", "", mirrortest.Digest(),
			mirrortest.Corrupt(5)), fails(11, "sha-256")},
		torment{"56", "watch: a feed reports a file, and it is larger than the day allows",
			watch("", "[feed.f.limits]\nbytes-a-day = \"1M\"\n", mirrortest.Digest()), fails(14, "allowed")},
	)
}
