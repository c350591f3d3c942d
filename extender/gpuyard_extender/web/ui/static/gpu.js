// One GPU: what it is, who has it, and, where faults can be injected, the buttons for it.
import { h } from "./dom.js";
import { state } from "./lists.js";
import { short } from "./map.js";
import { swatch } from "./owners.js";

const OFF_THE_BUS = 79;

export class GpuView {
  #problem = "";

  constructor({ node, index }, store, { canHurt, open, changed }) {
    Object.assign(this, { node, index, store, canHurt, open, changed });
  }

  refresh() {
    this.changed();
  }

  close() {}

  draw() {
    const gpu = this.store.nodes.get(this.node)?.gpus?.find((found) => found.index === this.index);
    const head = h("header", { class: "head" }, h("span", { class: "swatch anon", "aria-hidden": "true" }, String(this.index)), h("h2", {}, `${this.node}, GPU ${this.index}`), h("p", {}, gpu ? gpu.model : "is gone"));
    return gpu ? [head, facts(gpu), this.#owners(gpu), this.#buttons(gpu)] : [head];
  }

  #owners(gpu) {
    const parts = (gpu.parts ?? []).filter((part) => part[3] || part[2]);
    const entries = parts.map(([start, size, profile, uid]) => {
      const pod = this.store.pods.get(uid);
      const where = gpu.cells > 1 ? `${profile || "share"}, ${size} of ${gpu.cells} parts from ${start}` : "the whole GPU";
      if (!pod) return h("p", { class: "entry" }, h("span", { class: "swatch" }, "·"), h("span", { class: "name" }, uid ? "a pod that has ended" : "free"), h("span", { class: "more" }, where));
      const attributes = { type: "button", class: "entry", "data-key": `${uid} ${start}`, onclick: () => this.open(pod) };
      return h("button", attributes, swatch(pod), h("span", { class: "name" }, `${pod.namespace}/${pod.name}`), h("span", { class: "asks" }, state(pod)), h("span", { class: "more" }, where));
    });
    return [h("h3", {}, "On it"), entries.length ? entries : h("p", { class: "empty" }, h("strong", {}, "Free"), "Nobody has it.")];
  }

  #buttons(gpu) {
    if (!this.canHurt) return null;
    const text = gpu.sick ? "Let it recover" : `Let it fail (XID ${OFF_THE_BUS})`;
    return [
      h("h3", {}, "Try a fault"),
      h("div", { class: "buttons" }, h("button", { type: "button", class: "plain", "data-key": "fault", onclick: () => this.#ask("faults", { xid: gpu.sick ? null : OFF_THE_BUS }) }, text)),
      this.#links(gpu),
      h("p", { class: "problem", role: "alert" }, this.#problem),
    ];
  }

  /** A button for each NVLink; one that is pressed is down. */
  #links(gpu) {
    const peers = this.store.nodes.get(this.node).gpus.filter((found) => found.index !== gpu.index && found.link !== undefined && found.link === gpu.link);
    if (!peers.length) return null;
    const buttons = peers.map(({ index }) => {
      const down = (gpu.lost ?? []).includes(index);
      const label = `${down ? "Mend" : "Cut"} the NVLink to GPU ${index}`;
      const attributes = { type: "button", class: "plain", "data-key": `link ${index}`, "aria-pressed": String(down), "aria-label": label, title: label };
      return h("button", { ...attributes, onclick: () => this.#ask("links", { to: index, down: !down }) }, String(index));
    });
    return [h("h3", {}, "Cut its NVLink to GPU"), h("div", { class: "buttons" }, buttons)];
  }

  async #ask(path, body) {
    this.#problem = await asked(path, "POST", { node: this.node, gpu: this.index, ...body });
    this.changed();
  }
}

function facts(gpu) {
  const found = [
    ["model", short(gpu.model)], ["memory", `${Math.round(gpu.memory / 1024)} GiB`], ["health", gpu.sick ? "unhealthy" : "healthy"],
    ["NUMA node", gpu.numa], ["PCIe switch", gpu.switch], ["NVLink domain", gpu.link ?? "none"], ["lost NVLinks to", gpu.lost?.join(", ")],
  ];
  const rows = found.filter(([, text]) => text !== undefined).map(([name, text]) => [h("dt", {}, name), h("dd", {}, String(text))]);
  return h("dl", { class: "facts" }, rows);
}

/** Ask for a change; what is wrong with it, or "". */
export async function asked(path, method, body) {
  try {
    const headers = { "content-type": "application/json" };
    const reply = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    return reply.ok ? "" : (await reply.json()).error;
  } catch {
    return "The extender cannot be reached.";
  }
}
