// Serves the page on the loopback interface, as it is laid out when it is published.

import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("../", import.meta.url));
const PACKAGE = fileURLToPath(new URL("../../bindings/wasm/js/", import.meta.url));
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm" };

export const WASM = join(PACKAGE, "toolcheck.wasm");

/** Starts a server; `seen` are the requests that it was sent. */
export async function serve(port = 0) {
  const seen = [];
  const server = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url });
    const path = normalize(decodeURIComponent(request.url.split("?")[0])).replace(/\/$/, "/index.html");
    const file = path.startsWith("/toolcheck/") ? join(PACKAGE, path.slice("/toolcheck/".length)) : join(PAGE, path);
    if (path.includes("..") || !existsSync(file) || !statSync(file).isFile()) {
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
  const { address } = await serve(Number(process.env.PORT ?? 8000));
  console.log(address);
}
