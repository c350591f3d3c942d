// The keyboard: one tile can be reached by Tab, arrows go on from there; / searches, Esc closes.

/** `close` is called for Esc. */
export function listen(map, search, close) {
  map.addEventListener("drawn", () => keepOne(map));
  map.addEventListener("focusin", (event) => event.target.matches(".tile") && rove(map, event.target));
  map.addEventListener("keydown", (event) => {
    const to = event.target.matches(".tile") && move(map, event.target, event.key);
    if (!to) return;
    event.preventDefault();
    to.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    const typing = event.target.matches("input, textarea, select");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}

/** Arrows in a row of buttons. */
export function listenRow(row) {
  row.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
    const to = step && event.target[step];
    if (!to) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
}

function rove(map, tile) {
  for (const other of map.querySelectorAll('.tile[tabindex="0"]')) other.tabIndex = -1;
  tile.tabIndex = 0;
}

/** Some tile can always be reached. */
function keepOne(map) {
  if (map.querySelector('.tile[tabindex="0"]')) return;
  const first = map.querySelector(".tile");
  if (first) first.tabIndex = 0;
}

function move(map, tile, key) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step) {
    const tiles = [...map.querySelectorAll(".tile")];
    return tiles[tiles.indexOf(tile) + step];
  }
  if (key === "Home" || key === "End") return [...tile.closest(".node").querySelectorAll(".tile")].at(key === "Home" ? 0 : -1);
  if (key !== "ArrowUp" && key !== "ArrowDown") return null;
  return below(map, tile, key === "ArrowDown" ? 1 : -1);
}

/** The nearest tile in the row of tiles above (-1) or below (1); in this node first. */
function below(map, tile, way) {
  const card = tile.closest(".node");
  return (
    nearest(card.querySelectorAll(".tile"), tile, way) ??
    nearest(nearest(map.querySelectorAll(".node"), card, way)?.querySelectorAll(".tile") ?? [], tile, way)
  );
}

function nearest(elements, from, way) {
  const here = from.getBoundingClientRect();
  let [best, least] = [undefined, Infinity];
  for (const element of elements) {
    const there = element.getBoundingClientRect();
    const down = (there.top - here.top) * way;
    if (down < here.height / 2) continue;
    const far = down * 4 + Math.abs(there.left - here.left);
    if (far < least) [best, least] = [element, far];
  }
  return best;
}
