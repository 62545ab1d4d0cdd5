// Assembles the page, as it is published, and serves it on the loopback interface.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const ASSEMBLE = fileURLToPath(new URL("../assemble.sh", import.meta.url));
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm" };

/** What the editor is bundled with. */
export const EDITOR = fileURLToPath(new URL("../node_modules/esbuild", import.meta.url));
export const WASM = fileURLToPath(new URL("../../bindings/wasm/js/toolcheck.wasm", import.meta.url));

/** The folder of the page: the one that `TOOLCHECK_PAGE` names, which is to be published, or one that is assembled now. */
export function assembled() {
  if (process.env.TOOLCHECK_PAGE) return process.env.TOOLCHECK_PAGE;
  const folder = mkdtempSync(join(tmpdir(), "toolcheck-page-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Named from where it is, as the workflow that publishes the page does.
  execFileSync("bash", [ASSEMBLE, basename(folder)], { cwd: dirname(folder) });
  return folder;
}

/** Starts a server of a folder, in which the file at the address `without` is missing; `seen` are the requests that it was sent. */
export async function serve(folder, { port = 0, without } = {}) {
  const seen = [];
  const server = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url });
    const path = normalize(decodeURIComponent(request.url.split("?")[0])).replace(/\/$/, "/index.html");
    const file = join(folder, path);
    if (path === without || path.includes("..") || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { address: `http://127.0.0.1:${server.address().port}/`, seen, close: () => server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { address } = await serve(assembled(), { port: Number(process.env.PORT ?? 8000) });
  console.log(address);
}
