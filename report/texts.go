package report

import "braid/scheduler"

// startTexts say why a range is asked for.
var startTexts = map[scheduler.Reason]string{
	scheduler.ReasonFirst:      "nobody else is at work",
	scheduler.ReasonNext:       "it is free again",
	scheduler.ReasonGrowth:     "one more connection, to see whether it gets faster",
	scheduler.ReasonRemembered: "it is known to be fast from an earlier time",
	scheduler.ReasonReturn:     "it is tried again",
	scheduler.ReasonExchange:   "in the place of the weakest",
	scheduler.ReasonSplit:      "it takes over what another would bring later",
	scheduler.ReasonPiece:      "a piece of several sources was wrong, and now one fetches all of it",
}

// cutTexts say why a fetch ends before the end of its range.
var cutTexts = map[scheduler.Reason]string{
	scheduler.ReasonSplit:    "another takes over the rest, and so both finish at the same time",
	scheduler.ReasonMet:      "it met what another is fetching",
	scheduler.ReasonSilent:   "nothing came any more, and another can go on",
	scheduler.ReasonSlow:     "the rest would have taken it far too long",
	scheduler.ReasonUseless:  "closed, as it did not get faster by it",
	scheduler.ReasonCrowded:  "closed on trial, as the sources seem to share one link",
	scheduler.ReasonSameHost: "another name of a server that is at work already",
	scheduler.ReasonNoRanges: "it sends the whole file in place of a range",
	scheduler.ReasonLied:     "what it brought was wrong",
	scheduler.ReasonDone:     "every byte is here",
}
