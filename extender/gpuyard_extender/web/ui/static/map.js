// Racks, nodes and GPUs. Law: only nodes that changed are drawn anew, and some of them in each frame.
import { counted, h } from "./dom.js";
import { tile } from "./tile.js";

const FRAME_MILLISECONDS = 10;
const FRAME_NODES = 60; // at least: each frame costs, however little is drawn in it
const MIDDLE = 96; // from so many GPUs on, tiles are smaller
const SMALL = 800;

export class YardMap {
  #cards = new Map();
  #dirty = new Set();
  #frame = 0;

  constructor(element, store) {
    this.element = element;
    this.store = store;
    this.marks = () => "";
  }

  /** These nodes look different now. */
  touch(names) {
    for (const name of names) this.#dirty.add(name);
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }


  touchAll() {
    this.touch(this.store.nodes.keys());
  }

  card(name) {
    return this.#cards.get(name);
  }

  #draw() {
    const until = performance.now() + FRAME_MILLISECONDS;
    let drawn = 0;
    for (const name of this.#dirty) {
      this.#dirty.delete(name);
      this.#paint(name);
      if (++drawn >= FRAME_NODES && performance.now() > until) break;
    }
    this.#frame = this.#dirty.size ? requestAnimationFrame(() => this.#draw()) : 0;
    if (!this.#frame) this.element.dispatchEvent(new Event("drawn"));
  }

  /** Racks and empty cards: nodes came, went or moved. */
  lay() {
    const racks = this.store.racks();
    const names = new Set(racks.flatMap(([, nodes]) => nodes));
    for (const name of this.#cards.keys()) if (!names.has(name)) this.#cards.delete(name);
    this.#resize(names);
    this.element.replaceChildren(...(racks.length ? racks.map((rack) => this.#rack(rack)) : [this.#empty()]));
  }

  #rack([rack, names]) {
    const title = rack ? h("h2", {}, `Rack ${rack}`, h("small", {}, counted(names.length, "node"))) : null;
    return h("section", { class: "rack" }, title, h("div", { class: "nodes" }, names.map((name) => this.#made(name))));
  }

  #made(name) {
    if (!this.#cards.has(name)) {
      this.#cards.set(name, h("article", { class: "node", role: "group", "aria-label": `node ${name}` }));
      this.#dirty.add(name);
    }
    return this.#cards.get(name);
  }

  #empty() {
    const [strong, more] = this.store.complete
      ? ["No node with GPUs", "Nodes appear here as soon as their device plugin offers GPUs."]
      : ["Looking at the cluster", "The extender has not told what there is yet."];
    return h("p", { class: "empty" }, h("strong", {}, strong), more);
  }

  #resize(names) {
    let gpus = 0;
    for (const name of names) gpus += this.store.nodes.get(name).gpus?.length ?? 0;
    const size = gpus >= SMALL ? "small" : gpus >= MIDDLE ? "middle" : "large";
    if (this.element.dataset.size !== size) this.touch(names);
    this.element.dataset.size = size;
  }

  #paint(name) {
    const [card, node] = [this.#cards.get(name), this.store.nodes.get(name)];
    if (!card || !node) return;
    const held = card.contains(document.activeElement) ? document.activeElement.dataset.gpu : undefined;
    card.className = `node ${this.marks(name)}`;
    card.replaceChildren(this.#title(name, node), node.gpus ? this.#gpus(name, node.gpus) : counts(node.counts ?? {}));
    if (held !== undefined) card.querySelector(`[data-gpu="${held}"]`)?.focus({ preventScroll: true });
  }

  #title(name, node) {
    const models = [...new Set((node.gpus ?? []).map((gpu) => gpu.model))];
    const said = node.marks.map((mark) => h("span", { class: "mark" }, mark));
    return h("h3", { title: name }, name, h("small", {}, models.map(short).join(", ")), said);
  }

  #gpus(name, gpus) {
    const groups = new Map();
    for (const gpu of gpus) groups.set(gpu.numa, [...(groups.get(gpu.numa) ?? []), gpu]);
    const order = [...groups.values()].flat();
    const next = new Map(order.map((gpu, i) => [gpu, order[i + 1]]));
    const drawn = [...groups].map(([numa, found]) =>
      h("div", { class: "numa", "data-name": `NUMA ${numa}` }, found.map((gpu, i) => {
        const apart = i > 0 && found[i - 1].switch !== gpu.switch;
        const joined = gpu === found.at(-1) && gpu.link !== undefined && next.get(gpu)?.link === gpu.link;
        return tile(name, gpu, this.store.pods, { apart, joined, small: this.element.dataset.size === "small" });
      })));
    return h("div", { class: "gpus" }, drawn);
  }
}

/** A model without its maker, and without what its memory is made of. */
export const short = (model) => model.replace(/^NVIDIA-/, "").replace(/-HBM\d\w*$/, "");

/** A node of which only counts are known. */
function counts(found) {
  const rows = Object.entries(found).map(([resource, [used, total]]) =>
    h("label", { class: "count" }, `${resource}: ${used} of ${total}`, h("progress", { max: total, value: used })));
  return h("div", { class: "gpus" }, rows);
}
