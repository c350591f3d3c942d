// The lists of the panel: who waits and why, and who has what.
import { counted, h } from "./dom.js";
import { swatch } from "./owners.js";

const MOST_SHOWN = 200;

/** Pods and gangs that wait. `open` is called with a pod. */
export function waiting(store, open) {
  const found = store.waiting();
  if (!found.length) {
    return h("p", { class: "empty" }, h("strong", {}, "Nobody waits"), "Every pod that asks for GPUs has its place.");
  }
  return [found.slice(0, MOST_SHOWN).map(([key, pods]) => waitingEntry(store, key, pods, open)), rest(found)];
}

function waitingEntry(store, key, pods, open) {
  const [pod] = pods;
  const needed = store.groups.get(`${pod.namespace}/${pod.group}`)?.needed;
  const size = pod.group ? `${pods.length} of ${counted(needed ?? pods.length, "member")}` : asks(pod);
  const reason = pod.code ? h("span", { class: "code" }, pod.code) : state(pod);
  return entry(key, pod, size, [reason, pod.detail ? `: ${pod.detail}` : ""], open);
}

/** Owners of GPUs. */
export function running(store, open) {
  const found = store.owners();
  if (!found.length) {
    return h("p", { class: "empty" }, h("strong", {}, "Every GPU is free"), "Create a pod that asks for nvidia.com/gpu, and it appears here.");
  }
  const entries = found.slice(0, MOST_SHOWN).map(([key, owner]) => {
    const [[, pod]] = owner.pods;
    const gpus = counted(Math.round(owner.gpus * 100) / 100, "GPU");
    const nodes = [...new Set([...owner.pods.values()].map((each) => each.node).filter(Boolean))];
    const where = nodes.length > 2 ? counted(nodes.length, "node") : nodes.join(", ");
    return entry(key, pod, gpus, [owner.pods.size > 1 ? `${counted(owner.pods.size, "pod")} on ` : "", where || state(pod)], open);
  });
  return [entries, rest(found)];
}

function entry(key, pod, right, more, open) {
  const attributes = { type: "button", class: "entry", "data-key": key, onclick: () => open(pod) };
  return h("button", attributes, swatch(pod), h("span", { class: "name" }, key), h("span", { class: "asks" }, right), h("span", { class: "more" }, more));
}

const rest = (found) => found.length > MOST_SHOWN && h("p", { class: "empty" }, `and ${found.length - MOST_SHOWN} more`);

/** "2 × nvidia.com/gpu". */
export const asks = (pod) => Object.entries(pod.asks ?? {}).map(([name, count]) => `${count} × ${name.replace("nvidia.com/", "")}`).join(", ");

const STATES = {
  waiting: "waits", seated: "has a reserved seat", assumed: "is being placed", binding: "is being bound",
  pending: "is being started", running: "is running", terminating: "is ending",
};

/** What a pod is doing, for people. */
export const state = (pod) => STATES[pod.state] ?? pod.state ?? "";
