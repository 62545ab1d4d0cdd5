// toolcheck in a worker, so that typing does not freeze, behind a policy that lets nothing out.

const FILES = new URL("./toolcheck/", import.meta.url);
/** A call that takes longer is given up. */
const PATIENCE = 60_000;

/** Nothing is loaded after the module, so nothing may be. What is made after this has the same policy. */
function close() {
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "connect-src 'none'; img-src 'none'; frame-src 'none'; form-action 'none'";
  document.head.append(policy);
}

/** Loads the module, and then closes the page. */
export async function start() {
  const response = await fetch(new URL("toolcheck.wasm", FILES));
  if (!response.ok) throw new Error(`toolcheck.wasm can't be loaded: ${response.status}`);
  const module = await WebAssembly.compile(await response.arrayBuffer());
  close();
  return new Engine(module);
}

/** Calls of the module, one at a time. */
class Engine {
  #module;
  #worker;
  #waiting = new Map();
  #next = 0;

  constructor(module) {
    this.#module = module;
    this.#start();
  }

  #start() {
    // A worker from an address has the policy of that address's server; one from a blob has that of this page.
    const code = `import ${JSON.stringify(new URL("./worker.js", import.meta.url).href)};`;
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.#worker = new Worker(address, { type: "module" });
    this.#worker.onmessage = ({ data: { id, value, error, ready } }) => {
      if (ready) return this.#worker.postMessage({ module: this.#module });
      const waiting = this.#waiting.get(id);
      if (!waiting) return;
      this.#waiting.delete(id);
      clearTimeout(waiting.timer);
      if (error === undefined) waiting.resolve(value);
      else waiting.reject(new Error(error));
    };
    this.#worker.onerror = (event) => this.#fail(`the worker has failed: ${event.message ?? "it can't be loaded"}`);
  }

  #fail(message) {
    this.#worker.terminate();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(message));
    }
    this.#waiting.clear();
    this.#start();
  }

  /** Calls a function of `worker.js`. */
  ask(call, ...given) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const timer = setTimeout(() => this.#fail("this takes too long, and was given up"), PATIENCE);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#worker.postMessage({ id, call, given });
    });
  }
}
