//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lfs compares git-lfs's own transfer with braid as its agent: many objects from one server, and a few from a slow
// server with mirrors.
func (b *bench) lfs(ctx context.Context) error {
	for _, m := range []struct {
		what          string
		objects, size int
		rates         []int64 // bytes per second of the server and its mirrors; 0 for no limit
		goal          string
	}{
		{"40 objects of 8 MiB from one server over loopback", 40, 8 << 20, []int64{0}, "under 2, as git-lfs hashes once more what an agent brings"},
		{"4 objects of 16 MiB from a server of 16 MiB/s, with mirrors of 32 and 8 MiB/s", 4, 16 << 20, []int64{16 << 20, 32 << 20, 8 << 20}, "under 0.5"},
	} {
		fmt.Printf("lfs: %s, %d runs in turn; both verify\n", m.what, b.reps)
		if err := b.lfsRace(ctx, m.objects, m.size, m.rates, m.goal); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) lfsRace(ctx context.Context, objects, size int, rates []int64, goal string) error {
	dir, err := os.MkdirTemp(b.dir, "lfs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	repo, store := filepath.Join(dir, "repo"), filepath.Join(dir, "store")
	if err := makeObjects(repo, store, objects, size); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var relays []string
	files := http.FileServer(http.Dir(store))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			files.ServeHTTP(w, r)
			return
		}
		answerBatch(w, r, relays[0])
	})}
	go server.Serve(l)
	defer server.Close()
	for _, rate := range rates {
		addr := l.Addr().String()
		if rate > 0 {
			r, err := startRelay(addr, rate, 0)
			if err != nil {
				return err
			}
			defer r.close()
			addr = r.addr()
		}
		relays = append(relays, "http://"+addr)
	}
	agent := "lfs"
	for _, mirror := range relays[1:] {
		agent += " --mirror " + mirror + "/"
	}
	own := command{"git", "-C", repo, "-c", "lfs.url=http://" + l.Addr().String() + "/lfs", "lfs", "fetch"}
	braid := append(own[:len(own)-2:len(own)-2], "-c", "lfs.customtransfer.braid.path="+b.braid, "-c", "lfs.customtransfer.braid.args="+agent,
		"-c", "lfs.standalonetransferagent=braid", "lfs", "fetch")
	var times [2]series
	for range b.reps {
		for i, c := range []command{own, braid} {
			if err := os.RemoveAll(filepath.Join(repo, ".git", "lfs")); err != nil {
				return err
			}
			if err := times[i].measure(ctx, "", c); err != nil {
				return err
			}
		}
	}
	times[0].print("git-lfs", own)
	times[1].print("git-lfs by braid", braid)
	fmt.Printf("  braid to git-lfs alone: %.2f (goal: %s)\n", times[1].median()/times[0].median(), goal)
	return nil
}

// makeObjects makes a repository with pointers to objects. The objects are in store, as in .git/lfs/objects.
func makeObjects(repo, store string, n, size int) error {
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return err
	}
	random, body := rand.NewChaCha8([32]byte{}), make([]byte, size)
	for i := range n {
		random.Read(body)
		oid := fmt.Sprintf("%x", sha256.Sum256(body))
		path := filepath.Join(store, oid[:2], oid[2:4], oid)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, body, 0o644); err != nil {
			return err
		}
		pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, size)
		if err := os.WriteFile(filepath.Join(repo, fmt.Sprintf("%03d.bin", i)), []byte(pointer), 0o644); err != nil {
			return err
		}
	}
	for _, line := range []string{"init -q", "add .", "-c user.name=me -c user.email=me@example.org commit -q -m objects"} {
		if out, err := exec.Command("git", append([]string{"-C", repo}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", line, err, out)
		}
	}
	return nil
}

// answerBatch answers that a server has all objects.
func answerBatch(w http.ResponseWriter, r *http.Request, at string) {
	type object struct {
		OID     string         `json:"oid"`
		Size    int64          `json:"size"`
		Actions map[string]any `json:"actions"`
	}
	var list struct {
		Objects []object `json:"objects"`
	}
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for i, o := range list.Objects {
		list.Objects[i].Actions = map[string]any{"download": map[string]string{"href": at + "/" + o.OID[:2] + "/" + o.OID[2:4] + "/" + o.OID}}
	}
	w.Header().Set("Content-Type", "application/vnd.git-lfs+json")
	json.NewEncoder(w).Encode(list)
}
