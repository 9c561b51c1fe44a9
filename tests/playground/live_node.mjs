// SPDX-License-Identifier: MIT
// The page's live client under Node.js 20: the same TypeScript and the same WebAssembly module, without a picture.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const web = join(root, 'playground/web');

let bundle;
async function code() {
  const { build } = createRequire(join(web, 'package.json'))('esbuild');
  const { outputFiles } = await build({
    stdin: { contents: "export * from './src/live_client.ts'; export { Module } from './src/module.ts';", resolveDir: web, loader: 'ts' },
    bundle: true, format: 'esm', target: 'es2022', write: false, logLevel: 'warning',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** The machine's monotonic clock, s: that of the programs. */
export const monotonic_s = () => Number(process.hrtime.bigint()) / 1e9;

/** A new client in a module of its own. Needs a global WebSocket: node --experimental-websocket. */
export async function liveClient(modulePath = join(root, 'build/wasm/playground/playground.wasm')) {
  bundle ??= code();
  const { LiveClient, Module, entityNumbers } = await bundle;
  let client = null;
  let memory = null;
  const module = await Module.load(readFileSync(modulePath), LiveClient.importsFor(() => client, () => memory));
  memory = module.exports.memory;
  client = new LiveClient(module, monotonic_s);
  return { client, entityNumbers };
}
