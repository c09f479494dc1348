package cli

import (
	"cmp"
	"context"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/source"
	"braid/verify"
)

type probeCommand struct {
	job.HTTP
	streams
	JSON     bool
	Speed    bool
	NoLookup bool
	Timeout  duration
}

// measureTime is how long --speed measures each location.
const measureTime = time.Second

func newProbe(s streams) (action, targets) {
	p := &probeCommand{streams: s}
	return p.run, targetsOf(p)
}

func (p *probeCommand) run(ctx context.Context, words []string) error {
	if len(words) != 1 {
		return problem.Misuse("probe", "needs exactly one URL", "see braid probe --help")
	}
	p.Sites = job.NewSites(configurationOf(ctx))
	req, err := p.ProbeRequest(words[0], !p.NoLookup)
	if err != nil {
		return err
	}
	hc, err := p.Client()
	if err != nil {
		return err
	}
	hc.HeaderTimeout = time.Duration(p.Timeout)
	defer hc.CloseIdle()
	client := &download.Client{HTTP: hc, ForgeTokens: forgeTokens()}
	p.Sites.AddForges(client)
	offer, err := client.Probe(ctx, req)
	if err != nil {
		return downloadProblem(ctx, err)
	}
	wrong := verify.Agree(req.Trust.Claims, offer.File.Claims)
	evidence := client.Evidence(ctx, req, offer)
	offer.File = evidence.File
	var measured []download.Measurement
	if p.Speed {
		measured = client.Measure(ctx, req, offer.File, measureTime)
	}
	if ctx.Err() != nil {
		return downloadProblem(ctx, context.Cause(ctx))
	}
	return cmp.Or(p.show(offer, evidence, req.Trust.Require, measured), contradiction(req, wrong))
}

// show writes the results to standard output.
func (p *probeCommand) show(o download.Offer, evidence download.Evidence, require download.Require,
	measured []download.Measurement,
) error {
	if p.JSON {
		lines := render.NewJSONWriter(p.out)
		lines.Write(render.NewProbeEvent(time.Now(), o, evidence, measured))
		return outputFailure(lines.Err())
	}
	return printLines(p.out, render.ProbeLines(o, evidence, require, measured))
}

// contradiction converts err to a problem. err is the contradiction between the user's digest and the server's; it may be nil.
func contradiction(r download.Request, err error) error {
	if err == nil {
		return nil
	}
	return &problem.Problem{
		Kind: download.Mismatch, What: "probe", Where: source.Mask(r.URL), Why: err.Error(),
		Hint: "the server has a different file from the requested one",
	}
}
