// <halve-chart src="….vl.json"> draws a Vega-Lite specification. Vega is loaded with the first chart on a page, and its
// expressions run in the AST interpreter, because the content security policy forbids making code from text.

const address = (name) => document.querySelector(`meta[name="halve-${name}"]`)?.content;

const script = (name) =>
  new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = address(name);
    element.onload = resolve;
    element.onerror = () => reject(new Error(`${name} could not be loaded`));
    document.head.append(element);
  });

let loading;
const libraries = () => {
  loading ??= (async () => {
    for (const name of ["vega", "vega-lite", "vega-embed"]) await script(name);
    return (await import(address("vega-interpreter"))).expressionInterpreter;
  })();
  return loading;
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const mode = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "auto" ? (dark.matches ? "dark" : "light") : chosen;
};

class Chart extends HTMLElement {
  #view;
  #redraw = () => this.#draw();

  connectedCallback() {
    const figures = this.parentElement.querySelector("details.figures");
    if (figures) figures.open = false;
    dark.addEventListener("change", this.#redraw);
    this.#draw();
  }

  disconnectedCallback() {
    dark.removeEventListener("change", this.#redraw);
    this.#view?.finalize();
    this.#view = undefined;
  }

  async #draw() {
    try {
      const url = new URL(this.getAttribute("src"), location.href);
      url.searchParams.set("theme", mode());
      const [response, expr] = await Promise.all([fetch(url, { credentials: "same-origin" }), libraries()]);
      if (!response.ok) throw new Error(`the figures could not be fetched (${response.status})`);
      const specification = await response.json();
      if (!this.isConnected) return;
      const drawn = await globalThis.vegaEmbed(this, specification, {
        actions: false,
        ast: true,
        expr,
        renderer: "svg",
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true },
        config: { legend: { disable: this.getAttribute("legend") === "none" } },
      });
      this.#view?.finalize();
      this.#view = drawn;
      this.dataset.drawn = url.searchParams.get("theme");
    } catch (error) {
      this.textContent = `The chart could not be drawn: ${error.message}. Its figures stand below.`;
      const figures = this.parentElement.querySelector("details.figures");
      if (figures) figures.open = true;
    }
  }
}

// Paper is light: what was drawn for a dark screen gives way to its figures there.
addEventListener("beforeprint", () => {
  for (const chart of document.querySelectorAll('halve-chart[data-drawn="dark"]')) {
    const figures = chart.parentElement.querySelector("details.figures");
    if (figures) figures.open = true;
  }
});

customElements.define("halve-chart", Chart);
