// What an owner looks like: colour, pattern and letters, which stay as long as it is there.
import { h } from "./dom.js";
import { ownerKey } from "./store.js";

const COLOURS = 7;
const LOOKS = COLOURS * 4;
const looks = new Map();

/** Classes of map.css. */
export function look(pod) {
  if (!pod) return "anon";
  const key = ownerKey(pod);
  if (!looks.has(key)) looks.set(key, hash(key) % COLOURS);
  const number = looks.get(key);
  return `c${number % COLOURS} p${Math.floor(number / COLOURS)}`;
}

/** Give those who are new a look that nobody has: plain colours first, and the one of its name where it is free. */
export function assign(pods) {
  const keys = new Set([...pods].map(ownerKey));
  for (const key of looks.keys()) if (!keys.has(key)) looks.delete(key);
  const taken = new Set(looks.values());
  for (const key of [...keys].filter((each) => !looks.has(each)).sort()) {
    const first = hash(key) % COLOURS;
    const tries = Array.from({ length: LOOKS }, (_, i) => ((first + i) % COLOURS) + COLOURS * Math.floor(i / COLOURS));
    const free = tries.find((each) => !taken.has(each)) ?? hash(key) % LOOKS;
    looks.set(key, free);
    taken.add(free);
  }
}

/** Up to three signs: initials, and the number at the end, which tells members of a gang apart. */
export function letters(pod) {
  if (!pod) return "?";
  const [, words, number] = /^(.*?)-?(\d{0,2})$/.exec(pod.name);
  const initials = words.split(/[-.]/).filter(Boolean).map((word) => word[0]);
  const first = initials.length > 1 ? initials.slice(0, 2).join("") : words.slice(0, number ? 1 : 2);
  return `${first.toUpperCase()}${number}`.slice(0, 4) || "?";
}

/** Whether a pod has its place only by the scheduler's word as yet. */
export const isSoon = (pod) => ["seated", "assumed", "binding"].includes(pod?.state);

export const swatch = (pod) => h("span", { class: `swatch ${look(pod)}`, "aria-hidden": "true" }, letters(pod));

/** FNV-1a. */
function hash(text) {
  let found = 0x811c9dc5;
  for (const sign of text) found = Math.imul(found ^ sign.codePointAt(0), 0x01000193) >>> 0;
  return found >>> 3;
}
