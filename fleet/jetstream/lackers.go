package jetstream

import (
	"context"
	"slices"

	"braid/fleet"
)

// goneLackers are those of the workers which lacked something for the job that do not answer any more: one that was
// begun again has another name, and is no second witness.
func goneLackers(ctx context.Context, c *Claim, k fleet.Kind) []string {
	if k != fleet.Lacks || len(c.Record.Lackers) == 0 {
		return nil
	}
	there, err := c.q.Workers(ctx)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Record.Lackers), func(name string) bool {
		return slices.ContainsFunc(there, func(w fleet.Worker) bool { return w.Name == name })
	})
}
