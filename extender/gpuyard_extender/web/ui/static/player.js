// Plays the attempts to place a pod, step by step, on the map.
import { h } from "./dom.js";
import { attempts, steps } from "./steps.js";

const STEP_MILLISECONDS = 1400;

export class Player {
  #attempt = -1; // -1: the last one, also when another comes
  #step = -1; // -1: not playing, all steps are shown
  #timer = 0;

  /** `marked` is called with what the map is to show, `changed` when the panel is to be drawn anew. */
  constructor(marked, changed) {
    this.marked = marked;
    this.changed = changed;
  }

  /** Forget where it is; the map shows everything again. */
  stop() {
    clearTimeout(this.#timer);
    [this.#attempt, this.#step] = [-1, -1];
    this.marked(() => "");
  }

  draw(story) {
    const found = attempts(story.decisions);
    if (!found.length) return h("p", { class: "empty" }, h("strong", {}, "No decision yet"), "kube-scheduler has not asked about this pod: while a gate holds it, or its own checks refuse every node, it does not.");
    const number = this.#attempt < 0 ? found.length - 1 : Math.min(this.#attempt, found.length - 1);
    const all = steps(found[number], story, number === found.length - 1);
    return [this.#head(found, number, all), h("ol", { class: "steps" }, all.map((step, i) => this.#drawn(step, i, all)))];
  }

  #head(found, number, all) {
    const turn = (to) => () => { this.#attempt = to; this.#go(-1, []); };
    const when = new Date(found[number][0].time * 1000).toLocaleTimeString("en-GB");
    const playing = this.#step >= 0;
    const several = found.length > 1;
    return h("h3", {},
      `Attempt ${number + 1} of ${found.length}, ${when}`,
      h("span", { class: "play" },
        several && button("‹", "The attempt before", turn(number - 1), number === 0),
        several && button("›", "The next attempt", turn(number + 1), number === found.length - 1),
        button(playing ? "Show all" : "Play", playing ? "Show all steps" : "Play it step by step", () => (playing ? this.#go(-1, []) : this.#play(0, all)))));
  }

  #drawn(step, i, all) {
    const later = this.#step >= 0 && i > this.#step;
    const attributes = { class: `step${step.bad ? " bad" : ""}${later ? " later" : ""}`, "aria-current": i === this.#step && "step" };
    const title = h("button", { type: "button", "data-key": `step ${i}`, onclick: () => this.#go(i, all) }, step.title);
    return h("li", attributes, h("h4", {}, title), h("p", {}, step.text), step.content ?? null);
  }

  #play(i, all) {
    this.#go(i, all);
    this.#timer = setTimeout(() => (i + 1 < all.length ? this.#play(i + 1, all) : null), STEP_MILLISECONDS);
  }

  #go(i, all) {
    clearTimeout(this.#timer);
    this.#step = i;
    this.marked(all[i]?.marks ?? (() => ""));
    this.changed();
  }
}

const button = (text, label, onclick, disabled = false) =>
  h("button", { type: "button", class: "plain", "aria-label": label, title: label, "data-key": label, onclick, disabled }, text);
