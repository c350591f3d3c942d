// Light, dark, or as the system says; remembered by the browser.

const THEMES = ["system", "light", "dark"];
const NAMES = { system: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };
const KEY = "gpuyard-theme";

export function wire(button) {
  const stored = remembered();
  let theme = THEMES.includes(stored) ? stored : "system";
  const set = () => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = NAMES[theme];
    button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    remember(theme);
    set();
  });
  set();
}

// Where a browser keeps nothing, the theme lasts as long as the page.
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // see above
  }
}
