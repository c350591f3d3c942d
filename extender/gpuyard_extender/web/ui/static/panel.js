// The panel: lists in tabs, or what was chosen, with a way back.
import { h, show } from "./dom.js";
import { running, waiting } from "./lists.js";

export class Panel {
  #tab = "waiting";
  #chosen = null;

  /** `examples` null: there is nothing that could be submitted. `open` is called with a pod. */
  constructor(element, store, { examples, open, closed }) {
    Object.assign(this, { store, examples, open, closed });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Lists", onkeydown: (event) => this.#arrow(event) });
    this.page = h("div", { class: "page", id: "page", role: "tabpanel", tabindex: "-1" });
    element.replaceChildren(this.tabs, this.page, legend());
  }

  /** Show a view with draw, refresh and close, instead of the lists; null: the lists. */
  choose(view) {
    this.#chosen?.close();
    this.#chosen = view;
    this.draw();
    this.page.parentElement.scrollTop = 0;
  }

  get chosen() {
    return this.#chosen;
  }

  draw() {
    show(this.tabs, this.#chosen ? back(this.closed) : this.#tabs());
    show(this.page, this.#chosen ? this.#chosen.draw() : this.#list());
  }

  #list() {
    if (this.#tab === "examples") return this.examples.draw();
    return this.#tab === "waiting" ? waiting(this.store, this.open) : running(this.store, this.open);
  }

  #tabs() {
    const waits = this.store.waiting().reduce((sum, [, pods]) => sum + pods.length, 0);
    const found = [["waiting", "Waiting", waits], ["running", "Owners", this.store.owners().length]];
    if (this.examples) found.push(["examples", "Examples", null]);
    return found.map(([key, text, number]) => {
      const selected = this.#tab === key;
      const attributes = { type: "button", role: "tab", "data-key": key, "aria-controls": "page", "aria-selected": String(selected), tabindex: selected ? "0" : "-1" };
      return h("button", { ...attributes, onclick: () => this.#turn(key) }, `${text} `, number === null ? null : h("span", { class: "number" }, String(number)));
    });
  }

  #turn(key) {
    this.#tab = key;
    this.draw();
  }

  #arrow(event) {
    const to = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
    const next = to && event.target[to];
    if (!next) return;
    next.focus();
    this.#turn(next.dataset.key);
  }
}

const back = (closed) => h("button", { type: "button", "data-key": "back", onclick: closed }, "‹ All ", h("kbd", {}, "Esc"));

const legend = () =>
  h("p", { class: "legend" },
    [["", "free"], ["c0", "a pod or gang"], ["soon", "planned"], ["sick", "unhealthy"], ["link", "NVLink"]].map(([name, text]) =>
      h("span", {}, h("i", { class: name }), text)));
