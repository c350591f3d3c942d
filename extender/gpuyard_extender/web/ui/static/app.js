// Wires the parts of the page together.
import { counted, h, show } from "./dom.js";
import { Examples } from "./examples.js";
import { GpuView } from "./gpu.js";
import { listen } from "./keys.js";
import { YardMap } from "./map.js";
import { assign } from "./owners.js";
import { Panel } from "./panel.js";
import { PodView } from "./pod.js";
import { Store } from "./store.js";
import { follow } from "./stream.js";
import { wire } from "./theme.js";
import { Timeline } from "./timeline.js";

const by = (id) => document.getElementById(id);
const STATUS = { live: "live", lost: "connection lost, trying again", out: "signed out: reload the page" };

wire(by("theme"));
const about = await (await fetch("about")).json();
by("sign-out").hidden = !about.signedIn;

const store = new Store();
const map = new YardMap(by("map"), store);
const examples = about.readOnly ? null : new Examples(about.examples, () => panel.draw());
const panel = new Panel(by("panel"), store, { examples, open: openPod, closed: close });
const timeline = new Timeline(by("ticks"), by("latest"), store, openPod);
let marks = () => "";
let sought = "";
map.marks = (name) => `${marks(name)}${sought && !matches(name) ? " dim" : ""}`;

function openPod(pod) {
  press(null);
  panel.choose(new PodView(pod, store, mark, () => panel.draw()));
}

function openGpu(tile) {
  const [node, index] = [tile.dataset.node, Number(tile.dataset.gpu)];
  panel.choose(new GpuView({ node, index }, store, { canHurt: !about.readOnly, open: openPod, changed: () => panel.draw() }));
  press({ node, index });
}

let pressed = null;

/** Which tile is open. */
function press(place) {
  pressed = place;
  for (const tile of map.element.querySelectorAll('[aria-pressed="true"]')) tile.removeAttribute("aria-pressed");
  if (place) map.card(place.node)?.querySelector(`[data-gpu="${place.index}"]`)?.setAttribute("aria-pressed", "true");
}

function close() {
  const place = pressed;
  if (document.activeElement === by("search")) search("");
  panel.choose(null);
  press(null);
  if (place) map.card(place.node)?.querySelector(`[data-gpu="${place.index}"]`)?.focus();
}

function mark(shown) {
  marks = shown;
  map.touchAll();
}

function search(text) {
  by("search").value = text;
  sought = text.trim().toLowerCase();
  map.touchAll();
}

/** A node that is sought, by its name or by a pod on it. */
function matches(name) {
  if (name.toLowerCase().includes(sought)) return true;
  return (store.nodes.get(name)?.gpus ?? []).some((gpu) => (gpu.parts ?? []).some(([, , , uid]) => named(store.pods.get(uid))));
}

const named = (pod) => Boolean(pod) && `${pod.namespace}/${pod.name}`.toLowerCase().includes(sought);

function go(event) {
  event.preventDefault();
  const pod = [...store.pods.values()].find(named);
  const node = [...store.nodes.keys()].find((name) => name.toLowerCase().includes(sought));
  if (!sought) return;
  if (pod) openPod(pod);
  else if (node) map.card(node)?.querySelector(".tile")?.focus();
}

function figures() {
  const { nodes, gpus, used, sick, waiting } = store.figures();
  const share = gpus ? Math.round((100 * used) / gpus) : 0;
  const found = [[nodes, "nodes"], [gpus.toLocaleString("en"), "GPUs"], [`${share} %`, "used"], [waiting, "waiting"], [sick, "unhealthy", sick]];
  show(by("figures"), found.map(([number, name, alarm]) => h("div", { class: alarm ? "alarm" : "" }, h("dt", {}, name), h("dd", {}, String(number)))));
  document.title = waiting ? `(${counted(waiting, "pod")} waiting) GPUYard` : "GPUYard: the live yard";
}

by("map").addEventListener("click", (event) => {
  const tile = event.target.closest(".tile");
  if (tile) openGpu(tile);
});
by("map").addEventListener("drawn", () => press(pressed));
by("search").addEventListener("input", () => search(by("search").value));
by("search-form").addEventListener("submit", go);
listen(by("map"), by("search"), close);

map.lay();
panel.draw();
follow(
  (message) => {
    const changed = store.apply(message);
    assign(store.pods.values());
    if (changed.layout) map.lay();
    map.touch(changed.nodes);
    if (changed.attempts) timeline.draw();
    panel.chosen?.refresh();
    panel.draw();
    figures();
  },
  (state) => {
    by("status").dataset.state = state;
    by("status-text").textContent = STATUS[state];
  },
);
