// The stream of events. It uses fetch, because EventSource cannot send the token in a header, and the token must not be
// in a URL.

// A Parser is fed the text of an event stream in pieces and returns the complete events.
export class Parser {
  #rest = "";

  feed(text) {
    const parts = (this.#rest + text).split("\n\n");
    this.#rest = parts.pop();
    const events = [];
    for (const part of parts) {
      const event = { id: undefined, data: undefined };
      for (const line of part.split("\n")) {
        const at = line.indexOf(":");
        const value = line.slice(at + 1).replace(/^ /, "");
        if (line.startsWith("id:")) event.id = value;
        else if (line.startsWith("data:")) event.data = event.data === undefined ? value : event.data + "\n" + value;
      }
      if (event.data !== undefined) events.push(event);
    }
    return events;
  }
}

const silence = 15_000; // the server sends something at least every five seconds
const pauses = [500, 1000, 2000, 5000];

// A Stream reads events. If the connection is lost, it connects again and continues after the last event.
export class Stream {
  #last = "";
  #tries = 0;
  #stop = null; // ends the current wait
  #ended = false;

  // onState is called with "open", "lost" or "refused". After "refused" the stream has ended.
  constructor(token, onEvent, onState) {
    this.token = token;
    this.onEvent = onEvent;
    this.onState = onState;
    this.#run();
  }

  close() {
    this.#ended = true;
    this.#stop?.();
  }

  // again connects again at once.
  again() {
    this.#tries = 0;
    this.#stop?.();
  }

  async #run() {
    while (!this.#ended) {
      const abort = new AbortController();
      this.#stop = () => abort.abort();
      try {
        await this.#read(abort);
      } catch {
        // after any error the connection is lost
      }
      abort.abort();
      if (this.#ended) return;
      this.onState("lost");
      const pause = pauses[Math.min(this.#tries++, pauses.length - 1)];
      await new Promise((done) => {
        this.#stop = done;
        setTimeout(done, pause);
      });
    }
  }

  async #read(abort) {
    let watch = setTimeout(() => abort.abort(), silence);
    const headers = { Accept: "text/event-stream" };
    if (this.token) headers.Authorization = "Bearer " + this.token;
    if (this.#last) headers["Last-Event-ID"] = this.#last;
    try {
      const answer = await fetch("/events", { headers, signal: abort.signal, cache: "no-store" });
      if (answer.status === 401 || answer.status === 403) {
        this.#ended = true;
        this.onState("refused");
        return;
      }
      if (!answer.ok) throw new Error(answer.statusText);
      this.onState("open");
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new Parser();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(watch);
        watch = setTimeout(() => abort.abort(), silence);
        for (const event of parser.feed(value)) {
          this.#tries = 0;
          this.onEvent(JSON.parse(event.data));
          this.#last = event.id ?? this.#last;
        }
      }
    } finally {
      clearTimeout(watch);
    }
  }
}
