// One GPU as a button: what lies on it is drawn to size.
import { h } from "./dom.js";
import { isSoon, letters, look } from "./owners.js";

/**
 * The tile; `apart`: another PCIe switch than the one before; `joined`: its NVLink goes on in the next NUMA node; `small`: there is
 * no room for letters.
 */
export function tile(node, gpu, pods, { apart, joined, small }) {
  const classes = ["tile"];
  if (gpu.sick) classes.push("sick");
  if (gpu.contested) classes.push("contested");
  if (gpu.cells > 1) classes.push("wide");
  if (gpu.link !== undefined) classes.push("linked", gpu.link % 2 ? "odd" : "even");
  if (gpu.lost) classes.push("lost");
  if (apart) classes.push("apart");
  if (joined) classes.push("joined");
  const [only] = gpu.parts ?? [];
  const plain = small && gpu.cells === 1;
  if (plain && only) classes.push("full", ...worn(only[3], pods)); // one element a tile: there are thousands
  const parts = plain ? [] : (gpu.parts ?? []).map((part) => drawn(part, gpu.cells, pods, small));
  const attributes = {
    type: "button", class: classes.join(" "), tabindex: "-1", "aria-label": said(node, gpu, pods), title: said(node, gpu, pods),
    "data-node": node, "data-gpu": gpu.index, "data-owners": (gpu.parts ?? []).map((part) => part[3]).filter(Boolean).join(" "),
  };
  return h("button", attributes, parts, small ? null : h("span", { class: "number" }, String(gpu.index)));
}

/** The classes that say whose it is. */
function worn(uid, pods) {
  const pod = pods.get(uid);
  return uid ? [...look(pod).split(" "), ...(isSoon(pod) ? ["soon"] : [])] : ["free"];
}

function drawn([start, size, profile, uid], cells, pods, small) {
  const pod = pods.get(uid);
  const whole = !profile && size === cells;
  const narrow = uid && size * 5 < cells;
  const kind = whole || narrow || !profile ? null : h("small", {}, profile.split(".")[0]);
  const named = small ? null : h("b", {}, uid ? letters(pod) : "", kind);
  const part = h("i", { class: ["part", ...worn(uid, pods)].join(" ") }, named);
  // Set as properties: the page's policy allows no style in markup.
  if (!whole) {
    part.style.left = `${(100 * start) / cells}%`;
    part.style.width = `${(100 * size) / cells}%`;
  }
  return part;
}

/** All that the tile shows, in words. */
export function said(node, gpu, pods) {
  const owners = (gpu.parts ?? []).filter((part) => part[3]).map(([, , profile, uid]) => {
    const pod = pods.get(uid);
    const name = pod ? `${pod.namespace}/${pod.name}` : "a pod that has ended";
    return `${profile ? `${profile} ` : ""}${name}${isSoon(pod) ? `, ${pod.state}` : ""}`;
  });
  const health = gpu.sick ? ", unhealthy" : "";
  const lost = gpu.lost ? `, no NVLink to ${gpu.lost.join(", ")}` : "";
  return `${node}, GPU ${gpu.index}: ${owners.join("; ") || "free"}${health}${lost}`;
}
