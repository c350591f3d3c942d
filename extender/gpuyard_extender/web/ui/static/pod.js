// One pod: why it waits, node by node, and how it was decided.
import { counted, h } from "./dom.js";
import { asks, state } from "./lists.js";
import { swatch } from "./owners.js";
import { Player } from "./player.js";

const AGAIN_MILLISECONDS = 500;

export class PodView {
  #story = null;
  #problem = "";
  #asked = 0;
  #timer = 0;

  constructor(pod, store, marked, changed) {
    Object.assign(this, { pod, store, changed, player: new Player(marked, changed) });
    this.refresh();
  }

  /** Something changed: ask again, twice a second at most. */
  refresh() {
    this.#timer ||= setTimeout(() => this.#ask(), Math.max(0, this.#asked + AGAIN_MILLISECONDS - Date.now()));
  }

  close() {
    clearTimeout(this.#timer);
    this.#timer = -1;
    this.player.stop();
  }

  async #ask() {
    const { namespace, name } = this.pod;
    this.#asked = Date.now();
    try {
      const reply = await fetch(`pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`);
      const said = await reply.json();
      [this.#story, this.#problem] = reply.ok ? [said, ""] : [this.#story, said.error];
    } catch {
      this.#problem = "The extender cannot be reached.";
    }
    if (this.#timer === -1) return;
    this.#timer = 0;
    this.changed();
  }

  draw() {
    const known = [...this.store.pods.values()].find((pod) => pod.namespace === this.pod.namespace && pod.name === this.pod.name);
    const pod = known ?? { ...this.pod, state: "gone" };
    const head = h("header", { class: "head" }, swatch(pod), h("h2", {}, `${pod.namespace}/${pod.name}`), h("p", {}, known ? state(pod) : "is gone"));
    if (!this.#story) return [head, h("p", { class: "empty" }, this.#problem || "Asking why")];
    return [head, this.#reason(pod), this.#facts(pod), this.player.draw(this.#story), verdicts(this.#story.why), h("p", { class: "problem", role: "alert" }, this.#problem)];
  }

  #reason(pod) {
    const { why, change } = this.#story;
    if (!why.code) return null;
    return h("div", { class: "why" },
      h("p", {}, h("span", { class: "code" }, why.code), why.detail || pod.detail ? `: ${why.detail || pod.detail}` : ""),
      change && h("p", {}, `What has to change: ${change}.`));
  }

  #facts(pod) {
    const facts = [["asks for", asks(pod)], ["gang", pod.group], ["node", pod.node], ["GPUs", this.#story.given.join(", ")], ["priority", pod.priority]];
    return h("dl", { class: "facts" }, facts.filter(([, text]) => text).map(([name, text]) => [h("dt", {}, name), h("dd", {}, String(text))]));
  }
}

/** Every node with its reason, those alike together. */
function verdicts(why) {
  if (!why.nodes.length && !why.fits) return null;
  const byReason = new Map();
  for (const found of why.nodes) byReason.set(found.reason, [...(byReason.get(found.reason) ?? []), found]);
  const groups = [...byReason].map(([reason, nodes]) => group(reason, nodes));
  const fits = (why.fits ?? []).map((node) => ({ node }));
  return h("section", { class: "verdicts" }, h("h3", {}, "Node by node, now"), fits.length ? group("would take it", fits) : null, groups);
}

function group(reason, nodes) {
  const lines = nodes.map(({ node, detail }) => h("li", {}, node, detail ? h("span", {}, `: ${detail}`) : ""));
  return h("details", { "data-key": reason, open: nodes.length <= 4 }, h("summary", {}, reason, " ", h("small", {}, counted(nodes.length, "node"))), h("ul", {}, lines));
}
