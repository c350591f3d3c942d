// The cluster as the stream of events tells it. Stands for an informer's store.

const MOST_ATTEMPTS = 200; // the server shows as many
const byName = new Intl.Collator("en", { numeric: true }).compare;

export class Store {
  nodes = new Map();
  pods = new Map();
  groups = new Map();
  attempts = new Map();
  /** Whether the whole cluster has been told once. */
  complete = false;
  #plan = "";
  #places = new Map();

  /** Take a message in; what changed: names of nodes to draw, and whether any other section did. */
  apply(message) {
    const touched = new Set(Object.keys(message.nodes));
    if (message.reset) {
      for (const name of this.nodes.keys()) touched.add(name);
      for (const section of [this.nodes, this.pods, this.groups, this.attempts]) section.clear();
    }
    this.complete ||= message.cluster.seen === true;
    const moved = new Set(Object.keys(message.pods));
    for (const section of ["nodes", "pods", "groups", "attempts"]) {
      for (const [key, piece] of Object.entries(message[section])) {
        if (piece === null) this[section].delete(key) && this.#places.delete(key);
        else this[section].set(key, piece);
      }
    }
    const layout = this.#relaid();
    while (this.attempts.size > MOST_ATTEMPTS) this.attempts.delete(this.attempts.keys().next().value);
    for (const name of Object.keys(message.nodes)) this.#place(name);
    for (const uid of moved) if (this.#places.has(uid)) touched.add(this.#places.get(uid));
    return { nodes: touched, layout, attempts: Object.keys(message.attempts).length > 0 || message.reset };
  }

  /** Note whose devices a node has. */
  #place(name) {
    for (const gpu of this.nodes.get(name)?.gpus ?? []) for (const [, , , uid] of gpu.parts ?? []) if (uid) this.#places.set(uid, name);
  }

  /** Whether nodes are in other places than when this was asked last. */
  #relaid() {
    const plan = [this.complete, ...[...this.nodes].map(([name, node]) => [name, node.rack, node.block, !node.gpus?.length])].join();
    const changed = plan !== this.#plan;
    this.#plan = plan;
    return changed;
  }

  /** Nodes with GPUs by rack: [[rack, [name, ...]], ...], all in the order of people. */
  racks() {
    const racks = new Map();
    for (const [name, node] of this.nodes) {
      if (!node.gpus?.length && !Object.keys(node.counts ?? {}).length) continue;
      const rack = [node.block, node.rack].filter(Boolean).join(" / ");
      if (!racks.has(rack)) racks.set(rack, []);
      racks.get(rack).push(name);
    }
    for (const names of racks.values()) names.sort(byName);
    return [...racks].sort(([a], [b]) => byName(a, b));
  }

  /** Who waits: [[key, pods], ...], a gang as one, those with a reason first. */
  waiting() {
    const found = new Map();
    for (const [uid, pod] of this.pods) {
      if (pod.node || !["waiting", "seated", "assumed", "binding"].includes(pod.state)) continue;
      const key = ownerKey(pod);
      if (!found.has(key)) found.set(key, []);
      found.get(key).push({ uid, ...pod });
    }
    return [...found].sort(([a, [one]], [b, [other]]) => Number(!one.code) - Number(!other.code) || byName(a, b));
  }

  /** Who has what: [[key, {pods, gpus}], ...], those with most GPUs first. */
  owners() {
    const found = new Map();
    for (const node of this.nodes.values()) {
      for (const gpu of node.gpus ?? []) {
        for (const [, size, , uid] of gpu.parts ?? []) {
          const pod = this.pods.get(uid);
          if (!pod) continue;
          const key = ownerKey(pod);
          if (!found.has(key)) found.set(key, { pods: new Map(), gpus: 0 });
          const owner = found.get(key);
          owner.pods.set(uid, pod);
          owner.gpus += size / gpu.cells;
        }
      }
    }
    return [...found].sort(([a, one], [b, other]) => other.gpus - one.gpus || byName(a, b));
  }

  /** Counts for the head of the page. */
  figures() {
    const found = { nodes: 0, gpus: 0, used: 0, sick: 0, waiting: 0 };
    for (const node of this.nodes.values()) {
      const counts = Object.values(node.counts ?? {});
      if (node.gpus?.length || counts.length) found.nodes += 1;
      for (const [used, total] of counts) (found.gpus += total), (found.used += used);
      for (const gpu of node.gpus ?? []) {
        found.gpus += 1;
        found.sick += gpu.sick ? 1 : 0;
        for (const [, size, , uid] of gpu.parts ?? []) if (uid) found.used += size / gpu.cells;
      }
    }
    for (const [, pods] of this.waiting()) found.waiting += pods.length;
    return found;
  }
}

/** Members of a gang are one owner, every other pod is one of its own. */
export const ownerKey = (pod) => (pod.group ? `${pod.namespace}/${pod.group} (gang)` : `${pod.namespace}/${pod.name}`);
