// Elements from values. Law: what comes from the cluster becomes text or an attribute's value, never markup.

/** An element with attributes (false and null are left out; onclick and the like are listeners) and children. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const shown = new WeakMap();

/** Replace an element's children, but only where something looks different: focus and what is open stay. */
export function show(element, ...children) {
  const fresh = h(element.tagName, {}, ...children);
  if (fresh.innerHTML === shown.get(element)) return;
  shown.set(element, fresh.innerHTML);
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const opened = new Set([...element.querySelectorAll("details[open]")].map((found) => found.dataset.key));
  element.replaceChildren(...fresh.childNodes);
  for (const found of element.querySelectorAll("details")) found.open ||= opened.has(found.dataset.key);
  if (focused) element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

/** "1 node", "2 nodes". */
export const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
