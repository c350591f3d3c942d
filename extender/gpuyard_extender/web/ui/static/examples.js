// Examples that can be submitted to an embedded cluster.
import { h } from "./dom.js";
import { asked } from "./gpu.js";

export class Examples {
  #problem = "";
  #busy = "";

  constructor(found, changed) {
    Object.assign(this, { found, changed });
  }

  draw() {
    const rows = this.found.map(({ name, title }) =>
      h("li", { class: "example" },
        h("p", {}, title, h("small", {}, name)),
        this.#button("Submit", name, "POST"),
        this.#button("Remove", name, "DELETE")));
    return [h("p", { class: "problem", role: "alert" }, this.#problem), h("ul", {}, rows)];
  }

  #button(text, name, method) {
    const attributes = { type: "button", class: "plain", "aria-label": `${text} ${name}`, "data-key": `${method} ${name}`, disabled: this.#busy === name };
    return h("button", { ...attributes, onclick: () => this.#ask(name, method) }, text);
  }

  async #ask(name, method) {
    this.#busy = name;
    this.changed();
    this.#problem = await asked(`examples/${encodeURIComponent(name)}`, method);
    this.#busy = "";
    this.changed();
  }
}
