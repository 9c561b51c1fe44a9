// SPDX-License-Identifier: MIT
// node live_page.mjs PAGE_ADDRESS SECONDS SHOWN.csv data-channel|websocket
// Joins a server from a page of Chromium with the npm client, and writes what it shows, as live_client.mjs does. The server
// has to serve FOLDER: node live_page.mjs --folder FOLDER makes it. Prints how the client has joined.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const archetypes = [
  { name: 'body', thresholdM: 0.05, thresholdRad: 0.05 },
  { name: 'point', thresholdM: 0.05, thresholdRad: 0.05, hasOrientation: false },
];
const program = `
import { connect } from './client/client/index.js';
window.run = async (seconds, dataChannel) => {
  const wasm = await (await fetch('client/client/reckoner_client.wasm')).arrayBuffer(); // its time does not count
  const began = performance.now();
  const client = await connect(\`ws://\${location.host}/\`, { archetypes: ${JSON.stringify(archetypes)}, dataChannel, wasm });
  const result = { joinMs: performance.now() - began, channelMs: null, moves: [], rows: [] };
  client.on('transportChanged', ({ transport, reason }) => {
    result.channelMs ??= performance.now() - began;
    result.moves.push(transport + ': ' + reason);
  });
  if (dataChannel) for (let i = 0; i < 100 && client.transport !== 'data-channel'; ++i) await new Promise((on) => setTimeout(on, 100));
  const from = performance.now();
  await new Promise((end) => requestAnimationFrame(function draw() {
    const now = performance.now();
    const { count, ids, positions, quaternions, time } = client.frame(now);
    const { serverTime } = client;
    if (serverTime !== undefined) for (let i = 0; i < count; ++i) {
      const [x, y, z, w] = quaternions.subarray(4 * i, 4 * i + 4);
      const pose = [...positions.subarray(3 * i, 3 * i + 3), w, x, y, z].map((v) => v.toFixed(6)).join();
      result.rows.push([serverTime.toFixed(6), client.name(ids[i]), pose, time.toFixed(6), now]);
    }
    if (now - from > seconds * 1000) end(); else requestAnimationFrame(draw);
  }));
  result.transport = client.transport;
  await client.leave();
  return result;
};
`;

if (process.argv[2] === '--folder') {
  const folder = process.argv[3];
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(root, 'build/npm/client'), join(folder, 'client'));
  writeFileSync(join(folder, 'live.html'), '<!doctype html><link rel="icon" href="data:,"><script type="module" src="main.js"></script>');
  writeFileSync(join(folder, 'main.js'), program);
} else {
  const [address, seconds, path, transport] = process.argv.slice(2);
  const { chromium } = createRequire(join(root, 'bindings/web/package.json'))('playwright-core');
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(address);
  await page.waitForFunction(() => window.run);
  const offset_s = Number(process.hrtime.bigint()) / 1e9 - (await page.evaluate(() => performance.now())) / 1000;
  const { rows, ...result } = await page.evaluate(([s, channel]) => window.run(s, channel), [Number(seconds), transport === 'data-channel']);
  const head = 'frame_time_s,id,x,y,z,qw,qx,qy,qz,shown_time_s,monotonic_s\n';
  writeFileSync(path, head + rows.map((row) => [...row.slice(0, 4), (row[4] / 1000 + offset_s).toFixed(6)].join()).join('\n') + '\n');
  await browser.close();
  console.log(JSON.stringify({ asked: transport, ...result, frames: new Set(rows.map((row) => row[4])).size }));
}
