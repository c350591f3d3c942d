// One attempt to place a pod as steps: Plan, where it is in a gang, Filter, Score, Reserve, Bind, Allocate; and what each shows on the map.
import { h } from "./dom.js";

const MOST_SCORES = 8;

/** The decisions on a pod, cut where its gang was planned anew, or kube-scheduler began anew with a Filter. */
export function attempts(decisions) {
  const found = [];
  for (const decision of decisions) {
    const tried = found.at(-1)?.some(({ verb }) => verb !== "plan");
    if (!found.length || decision.verb === "plan" || (decision.verb === "filter" && tried)) found.push([]);
    found.at(-1).push(decision);
  }
  return found;
}

/** The steps of one attempt: {title, text, bad, content, marks}; `marks` tells a node's class on the map. */
export function steps(attempt, story, last) {
  const of = (verb) => attempt.findLast((decision) => decision.verb === verb);
  const [plan, filter, score, preempt, bind] = ["plan", "filter", "prioritize", "preempt", "bind"].map(of);
  const planned = score?.node ? score : filter?.node ? filter : null;
  return [
    plan && placed(plan),
    filter && filtered(filter),
    preempt && preempted(preempt),
    score && scored(score),
    planned && reserved(planned),
    bind && bound(bind),
    last && bind && !bind.error && allocated(story, bind),
  ].filter(Boolean);
}

function placed(plan) {
  const text = `all ${plan.candidates} members have places; ${gpus(plan.devices)} on ${plan.node} are kept for this one`;
  if (!plan.error) return { title: "Plan", text, marks: on(plan.node) };
  return { title: "Plan", bad: true, text: `${plan.error}${refusals(plan)}`, marks: verdicts(plan) };
}

function filtered(filter) {
  const passed = filter.verdicts?.Passed ?? 0;
  return {
    title: "Filter", bad: !passed, marks: verdicts(filter),
    text: `${passed} of ${filter.candidates} nodes would take it${refusals(filter)}`,
    content: (filter.nodes.Passed ?? []).length ? h("p", {}, `Passed: ${few(filter.nodes.Passed, passed)}`) : null,
  };
}

const refusals = ({ verdicts }) =>
  Object.entries(verdicts ?? {}).filter(([reason]) => reason !== "Passed").map(([reason, count]) => `; ${count} × ${reason}`).join("");

function verdicts({ nodes }) {
  const found = new Map(Object.entries(nodes).flatMap(([reason, names]) => names.map((name) => [name, reason])));
  return (node) => (found.get(node) === "Passed" ? "passes" : found.has(node) ? "refused" : "");
}

function preempted(preempt) {
  const offers = Object.entries(preempt.victims ?? {});
  const text = offers.map(([node, victims]) => `${victims.length} would go on ${node}`).join("; ");
  return { title: "Preempt", bad: !offers.length, text: text || "nobody's removal would help", marks: (node) => (node in (preempt.victims ?? {}) ? "passes" : "") };
}

function scored(score) {
  const ranks = Object.entries(score.ranks);
  const best = ranks[0]?.[1] ?? 1;
  const rows = ranks.slice(0, MOST_SCORES).map(([node, points]) => {
    const bar = h("i", { class: "score" });
    bar.style.width = `${Math.max(2, (100 * points) / best)}%`;
    return [h("span", {}, node), h("span", {}, bar), h("span", {}, String(points))];
  });
  const places = new Map(ranks.map(([node], i) => [node, i]));
  return {
    title: "Score", text: `${score.candidates} nodes ranked; kube-scheduler takes the one with the most points`,
    content: h("div", { class: "scores" }, rows),
    marks: (node) => (places.get(node) === 0 ? "chosen" : places.has(node) ? "passes" : "refused"),
  };
}

const on = (where) => (node) => (node === where ? "chosen" : "refused");

const reserved = (planned) => ({
  title: "Reserve", text: `${gpus(planned.devices)} on ${planned.node} are kept for it while it is bound`, marks: on(planned.node),
});

const bound = (bind) => ({
  title: "Bind", bad: Boolean(bind.error), marks: on(bind.node),
  text: bind.error ? `refused: ${bind.error}` : `bound to ${bind.node}; the plan is ${gpus(bind.devices)}`,
});

function allocated(story, bind) {
  const given = story.given;
  const text = given.length ? `the kubelet gave it ${gpus(given)}` : "the kubelet has not said yet what it gave";
  const differs = given.length && bind.devices.length && String(given) !== String(bind.devices);
  return { title: "Allocate", text: differs ? `${text}, not what was planned` : text, bad: Boolean(differs), marks: on(bind.node) };
}

const gpus = (devices) => (devices?.length ? `GPU ${devices.join(", ")}` : "no device that is known by name");

const few = (names, count) => `${names.slice(0, 5).join(", ")}${count > 5 ? ` and ${count - 5} more` : ""}`;
