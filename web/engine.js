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
  /** Calls that were sent or, until the worker has started, are to be sent. */
  #waiting = new Map();
  #isStarted = false;
  /** Why no worker can start. Another one would fail in the same way, so none is made. */
  #broken;
  #next = 0;

  constructor(module) {
    this.#module = module;
  }

  #start() {
    // A worker from an address has the policy of that address's server; one from a blob has that of this page.
    const file = JSON.stringify(new URL("./worker.js", import.meta.url).href);
    const code = `import(${file}).catch((error) => postMessage({ is: "failed", error: String(error) }));`;
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const worker = new Worker(address, { type: "module" });
    worker.onmessage = ({ data }) => {
      URL.revokeObjectURL(address);
      // What one says that was given up is of no use.
      if (worker === this.#worker) this.#hear(data);
    };
    worker.onerror = ({ message }) => worker === this.#worker && this.#end(message ?? "the worker can't be loaded");
    this.#isStarted = false;
    this.#worker = worker;
  }

  #hear({ is, id, value, error }) {
    if (is === "failed") return this.#end(error);
    if (is === "loaded") return this.#worker.postMessage({ module: this.#module });
    if (is === "started") {
      this.#isStarted = true;
      for (const { message } of this.#waiting.values()) this.#worker.postMessage(message);
      return;
    }
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.resolve(value);
    else waiting.reject(new Error(error));
  }

  /** Gives up the worker. The next call starts another one, unless this one could not start. */
  #fail(message) {
    this.#worker.terminate();
    this.#worker = undefined;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(message));
    }
    this.#waiting.clear();
  }

  /** Gives up the worker because it said so itself. */
  #end(message) {
    if (!this.#isStarted) this.#broken = message;
    this.#fail(message);
  }

  /** Calls a function of `worker.js`. */
  ask(call, ...given) {
    if (this.#broken !== undefined) return Promise.reject(new Error(this.#broken));
    if (!this.#worker) this.#start();
    return new Promise((resolve, reject) => {
      const message = { id: this.#next++, call, given };
      const timer = setTimeout(() => this.#fail("this takes too long, and was given up"), PATIENCE);
      this.#waiting.set(message.id, { message, resolve, reject, timer });
      if (this.#isStarted) this.#worker.postMessage(message);
    });
  }
}
