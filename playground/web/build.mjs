// SPDX-License-Identifier: MIT
// node build.mjs MODULE.wasm FOLDER: bundles the page into FOLDER, which any static host can serve.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [wasm, folder] = process.argv.slice(2);
if (!wasm || !folder) {
  console.error('usage: node build.mjs MODULE.wasm FOLDER');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

await build({
  absWorkingDir: here,
  entryPoints: ['src/main.ts', 'src/worker.ts', 'src/live.ts'],
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
  logLevel: 'warning',
});
for (const name of ['index.html', 'live.html', 'style.css', 'icon.svg']) cpSync(join(here, name), join(folder, name));
cpSync(join(here, 'node_modules/uplot/dist/uPlot.min.css'), join(folder, 'uplot.css'));
cpSync(wasm, join(folder, 'playground.wasm'));

// The service worker keeps these files for use without a network. A new version of any file gives it a new name.
const files = ['index.html', 'style.css', 'uplot.css', 'icon.svg', 'main.js', 'worker.js', 'live.html', 'live.js', 'playground.wasm'];
const hash = createHash('sha256');
for (const name of files) hash.update(readFileSync(join(folder, name)));
const version = hash.digest('hex').slice(0, 12);
const template = readFileSync(join(here, 'offline.js'), 'utf8');
writeFileSync(
  join(folder, 'offline.js'),
  template.replace("'VERSION'", JSON.stringify(version)).replace("['FILES']", JSON.stringify(files)),
);

let gzip = 0;
let brotli = 0;
for (const name of [...files, 'offline.js']) {
  const bytes = readFileSync(join(folder, name));
  gzip += gzipSync(bytes, { level: 9 }).length;
  brotli += brotliCompressSync(bytes).length;
}
console.log(`${folder}: ${(gzip / 1e6).toFixed(2)} MB with gzip, ${(brotli / 1e6).toFixed(2)} MB with brotli`);
