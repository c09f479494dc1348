//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	debs    = 60
	debSize = 400 << 10
)

// apt compares "apt-get install --download-only" of many small packages by braid and by apt's own transport, each in a
// private root: from one server without and with a rate limit, and from mirrors of which the configured one is the
// slowest.
func (b *bench) apt(ctx context.Context) error {
	root, names, err := b.aptRepository()
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	fmt.Printf("apt: %d packages of %s, apt-get install --download-only, in turn\n", debs, mib(debSize))
	for _, tt := range []struct {
		what, goal string
		mirrors    []mirror
	}{
		{"one server, as fast as it goes", "no goal: what a start costs", []mirror{{}}},
		{"one server, 20 MiB/s", "at most 1.10", []mirror{{rate: 20 << 20}}},
		{"the configured server 1 MiB/s, two mirrors 4 and 8 MiB/s", "under 1", []mirror{{rate: 1 << 20}, {rate: 4 << 20}, {rate: 8 << 20}}},
	} {
		web, err := startNginx(ctx, root, tt.mirrors)
		if err != nil {
			return err
		}
		fmt.Printf("  %s\n", tt.what)
		err = b.compareApt(ctx, web, names, tt.goal)
		web.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) compareApt(ctx context.Context, web *web, names []string, goal string) error {
	var conf strings.Builder
	conf.WriteString("Acquire::braid::Mirrors::bench {")
	for _, m := range web.mirrors {
		fmt.Fprintf(&conf, " %q;", "http://"+m.public)
	}
	conf.WriteString(" };\n")
	var ours, theirs series
	for _, way := range []struct {
		s      *series
		label  string
		scheme string
	}{{&ours, "braid", "braid+http"}, {&theirs, "apt's http", "http"}} {
		dir, err := b.aptRoot(way.scheme+"://"+web.mirrors[0].public, conf.String())
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		env := command{"env", "APT_CONFIG=" + dir + "/apt.conf", "http_proxy=", "apt-get", "-qq"}
		if err := (&series{}).measure(ctx, "", append(env[:len(env):len(env)], "update")); err != nil {
			return err
		}
		for range b.reps {
			install := append(env[:len(env):len(env)], append([]string{"-y", "--download-only", "install"}, names...)...)
			if err := way.s.measure(ctx, "", install); err != nil {
				return err
			}
			if err := exec.CommandContext(ctx, env[0], append(env[1:], "clean")...).Run(); err != nil {
				return err
			}
		}
		way.s.print(way.label, append(env[:len(env):len(env)], "-y", "--download-only", "install", "p00", "..."))
	}
	fmt.Printf("  braid to apt's http: %.2f (goal: %s)\n", ours.median()/theirs.median(), goal)
	return nil
}

// aptRepository makes an unsigned repository in a folder.
func (b *bench) aptRepository() (root string, names []string, err error) {
	if root, err = b.serverRoot(1, 3*debs*debSize, writeRandom); err != nil {
		return "", nil, err
	}
	var list strings.Builder
	for i := range debs {
		name := fmt.Sprintf("p%02d", i)
		tree := filepath.Join(root, "tree", name)
		control := fmt.Sprintf("Package: %s\nVersion: 1.0\nArchitecture: all\nMaintainer: Bench <bench@example.org>\nDescription: a package\n", name)
		deb := filepath.Join("pool", name+".deb")
		for _, dir := range []string{filepath.Join(tree, "DEBIAN"), filepath.Join(root, "pool"), filepath.Join(root, "dists/stable/main/binary-amd64")} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return root, nil, err
			}
		}
		f, err := os.Create(filepath.Join(tree, name))
		if err == nil {
			err = writeRandom(f, debSize)
			f.Close()
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(tree, "DEBIAN/control"), []byte(control), 0o644)
		}
		if err != nil {
			return root, nil, err
		}
		if out, err := exec.Command("dpkg-deb", "-Znone", "--build", tree, filepath.Join(root, deb)).CombinedOutput(); err != nil {
			return root, nil, fmt.Errorf("dpkg-deb: %w\n%s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(root, deb))
		if err != nil {
			return root, nil, err
		}
		fmt.Fprintf(&list, "%sFilename: %s\nSize: %d\nSHA256: %x\n\n", control, deb, len(data), sha256.Sum256(data))
		names = append(names, name)
	}
	const packages = "main/binary-amd64/Packages"
	release := fmt.Sprintf("Suite: stable\nCodename: stable\nArchitectures: amd64 all\nComponents: main\nSHA256:\n %x %d %s\n", sha256.Sum256([]byte(list.String())), list.Len(), packages)
	for name, text := range map[string]string{"Release": release, packages: list.String()} {
		if err := os.WriteFile(filepath.Join(root, "dists/stable", name), []byte(text), 0o644); err != nil {
			return root, nil, err
		}
	}
	return root, names, nil
}

// aptRoot makes a private apt system with one source.
func (b *bench) aptRoot(uri, conf string) (dir string, err error) {
	if dir, err = os.MkdirTemp(b.dir, "apt-"); err != nil {
		return "", err
	}
	for _, name := range []string{"etc/apt/apt.conf.d", "etc/apt/sources.list.d", "etc/apt/preferences.d", "methods", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/lib/dpkg"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return dir, err
		}
	}
	links, _ := filepath.Glob("/usr/lib/apt/methods/*")
	for _, target := range append(links, b.braid) {
		name := filepath.Base(target)
		if target == b.braid {
			name = "braid+http"
		}
		if err := os.Symlink(target, filepath.Join(dir, "methods", name)); err != nil {
			return dir, err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return dir, err
	}
	conf += fmt.Sprintf(`Dir "%[1]s/"; Dir::State::status "%[1]s/var/lib/dpkg/status"; Dir::Bin::Methods "%[1]s/methods/"; APT::Architecture "amd64"; APT::Architectures { "amd64"; };
Acquire::Languages "none"; APT::Sandbox::User "root"; Acquire::AllowInsecureRepositories "true";
`, dir)
	for name, text := range map[string]string{"apt.conf": conf, "etc/apt/sources.list": "deb [trusted=yes] " + uri + " stable main\n", "var/lib/dpkg/status": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return dir, err
		}
	}
	return dir, nil
}
