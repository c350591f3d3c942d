// The last decisions in a row, the newest last.
import { h } from "./dom.js";
import { listenRow } from "./keys.js";

const VERBS = { plan: "Plan", filter: "Filter", prioritize: "Score", preempt: "Preempt", bind: "Bind" };

export class Timeline {
  #ticks = new Map();

  /** `open` is called with {namespace, name}. */
  constructor(row, latest, store, open) {
    Object.assign(this, { row, latest, store, open });
    listenRow(row);
  }

  draw() {
    for (const [number, tick] of this.#ticks) {
      if (this.store.attempts.has(number)) continue;
      tick.remove();
      this.#ticks.delete(number);
    }
    let newest = null;
    for (const [number, decision] of this.store.attempts) {
      if (!this.#ticks.has(number)) this.#add(number, decision);
      newest = decision;
    }
    if (!this.row.querySelector('[tabindex="0"]') && this.row.lastChild) this.row.lastChild.tabIndex = 0;
    this.latest.textContent = newest ? said(newest) : "None yet: kube-scheduler has not asked.";
  }

  #add(number, decision) {
    const [namespace, ...name] = decision.pod.split("/");
    const tick = h("button", {
      type: "button", class: "tick", tabindex: "-1", "data-verb": decision.verb, "data-end": end(decision),
      title: said(decision), "aria-label": said(decision), onclick: () => this.open({ namespace, name: name.join("/") }),
    });
    this.#ticks.set(number, tick);
    this.row.append(tick);
  }
}

function end({ verb, verdicts, error, victims }) {
  if (verb === "bind") return error ? "bad" : "good";
  if (verb === "plan") return error ? "bad" : "";
  if (verb === "filter") return verdicts?.Passed ? "" : "bad";
  return verb === "preempt" && !victims ? "bad" : "";
}

function said({ verb, pod, node, verdicts, error, time }) {
  const when = new Date(time * 1000).toLocaleTimeString("en-GB");
  const refused = Object.entries(verdicts ?? {}).filter(([reason]) => reason !== "Passed").map(([reason, count]) => `${count} × ${reason}`);
  const outcome = error || (node ? `${node}` : refused.join(", ") || `${verdicts?.Passed ?? "no"} nodes`);
  return `${when} ${VERBS[verb] ?? verb} ${pod}: ${outcome}`;
}
