package cli

// yield drops what the settings and the environment say of files where the command line wants the bytes on standard output: it is for
// other downloads. On the command line it would be a mistake.
func (g *getCommand) yield(c *configuration) {
	if g.out != "-" || !c.line["out"] {
		return
	}
	if !c.line["json"] {
		g.json = false
	}
	if !c.line["dir"] {
		g.dir = ""
	}
	if !c.line["if-newer"] {
		g.newer.ifNewer = false
	}
	if !c.line["on-complete"] {
		g.onComplete.args = nil
	}
	if !c.line["seed-time"] && !c.line["seed-ratio"] {
		g.peers.ratio, g.peers.time = 0, 0
	}
}
