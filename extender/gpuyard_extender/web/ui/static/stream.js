// The stream of server-sent events, and what to say while there is none.

const AGAIN_MILLISECONDS = 2000;

/** Calls `told` with each message and `changed` with "live", "lost" or "out" (signed out). */
export function follow(told, changed) {
  const source = new EventSource("events");
  source.onopen = () => changed("live");
  source.onmessage = (event) => told(JSON.parse(event.data));
  source.onerror = async () => {
    changed("lost");
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries again
    source.close();
    if (await stillAllowed()) setTimeout(() => follow(told, changed), AGAIN_MILLISECONDS);
    else changed("out");
  };
}

async function stillAllowed() {
  try {
    return (await fetch("about")).status !== 401;
  } catch {
    return true;
  }
}
