// SPDX-License-Identifier: MIT
// node measure_frames.mjs [ENTITIES] [SECONDS]: draws a crowd in both panes in Chromium, and prints the frame
// rate, the time that the page's own code needs for a frame, and the time of a run. Needs build/playground.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = join(root, 'build/playground');
const { chromium } = createRequire(join(root, 'playground/web/package.json'))('playwright-core');
const [entities = '200', seconds = '8'] = process.argv.slice(2);
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.wasm': 'application/wasm' };
const server = createServer((request, response) => {
  const path = join(folder, decodeURI(new URL(request.url, 'http://x').pathname).replace(/\/$/, '/index.html'));
  if (!path.startsWith(folder) || !existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' });
  createReadStream(path).pipe(response);
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', ...(process.env.GPU ? [] : ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'])],
});
const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
page.setDefaultTimeout(120_000);
const address = `http://127.0.0.1:${server.address().port}/`;
const ready = () => page.waitForFunction(() => document.body.dataset.state === 'ready', null, { timeout: 120_000 });

await page.goto(`${address}#seconds=60&scenario=orbit&entities=1`);
await ready();
for (const what of ['the two shown methods', 'all methods']) {
  const runs = [];
  for (let seed = 1; seed <= 4; ++seed) {
    await page.evaluate((one) => {
      document.getElementById('seed').value = String(one); // another run, as long as the one before
      document.getElementById('seed').dispatchEvent(new Event('change'));
      document.body.dataset.state = 'running';
    }, seed);
    await ready();
    runs.push(await page.evaluate(() => window.playground.state.took_ms));
  }
  console.log(`60 s of one entity, ${what}: ${runs.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  await page.evaluate(() => document.getElementById('compute-all').click());
  await ready();
}

await page.goto(`${address}?crowd#seconds=4&scenario=crowd&entities=${entities}`);
await ready();
await page.evaluate(() => {
  const { playground } = window;
  const draw = playground.drawReplay.bind(playground);
  window.own = [];
  playground.drawReplay = (run) => {
    const before = performance.now();
    draw(run);
    window.own.push(performance.now() - before);
  };
  playground.setPlaying(true);
});
const before = await page.evaluate(() => window.own.length);
const began = Date.now();
await page.waitForTimeout(1000 * Number(seconds));
const { frames, own } = await page.evaluate((from) => ({ frames: window.own.length - from, own: window.own.slice(from).sort((a, b) => a - b) }), before);
const quantile = (q) => own[Math.min(own.length - 1, Math.floor(q * own.length))]?.toFixed(2);
console.log(`${entities} entities in both panes: ${((1000 * frames) / (Date.now() - began)).toFixed(1)} frames per second, `
  + `the page's own code needs ${quantile(0.5)} ms per frame (p95 ${quantile(0.95)} ms)`);
await browser.close();
server.close();
