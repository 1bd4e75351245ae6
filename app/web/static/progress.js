// <halve-progress src="…/events"> keeps what it holds up to date from an event stream. Without JavaScript the page
// comes anew by itself. Elements name the value that they show with data-live.

class Progress extends HTMLElement {
  #source;

  connectedCallback() {
    const source = new EventSource(this.getAttribute("src"));
    this.#source = source;
    source.addEventListener("progress", (event) => this.#show(JSON.parse(event.data)));
    source.addEventListener("fault", (event) => this.#say(JSON.parse(event.data).text));
    source.addEventListener("end", () => {
      source.close();
      location.reload();
    });
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) this.#say("The connection ended. Load the page again.");
    };
  }

  disconnectedCallback() {
    this.#source?.close();
  }

  #show(values) {
    for (const element of this.querySelectorAll("[data-live]")) {
      const text = String(values[element.dataset.live] ?? "");
      if (element.textContent !== text) element.textContent = text;
    }
    const bar = this.querySelector("progress");
    if (bar) {
      bar.max = values.total;
      bar.value = values.answered;
    }
    // The page says more than this element: with every new state it comes anew.
    if (values.state !== this.getAttribute("state") && !values.ended) location.reload();
  }

  #say(text) {
    this.#source.close();
    const place = this.querySelector("[data-live='note']");
    if (place) place.textContent = text;
  }
}

customElements.define("halve-progress", Progress);
