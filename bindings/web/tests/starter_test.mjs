// SPDX-License-Identifier: MIT
// The starter in examples/web, as its README says: npm install, npm start, two tabs of Chromium.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { here, packages, root, until } from './support.mjs';

const { chromium } = createRequire(join(here, '../package.json'))('playwright-core');
const starter = join(root, 'examples/web');

test('each file of the starter has at most 80 lines', (t) => {
  for (const name of ['client.js', 'server.js']) {
    const lines = readFileSync(join(starter, name), 'utf8').trimEnd().split('\n').length;
    t.diagnostic(`${name}: ${lines} lines`);
    assert.ok(lines <= 80);
  }
});

test('two tabs see each other move', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reckoner-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(starter, folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const name of ['client', 'server', 'three']) manifest.dependencies[`@reckoner/${name}`] = `file:${join(packages, name)}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const started = Date.now();
  execFileSync('npm', ['install', '--prefer-offline', '--silent'], { cwd: folder, stdio: 'inherit' });
  t.diagnostic(`npm install: ${((Date.now() - started) / 1000).toFixed(1)} s`);
  const server = spawn('node', ['server.js'], { cwd: folder, env: { ...process.env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => server.kill('SIGKILL'));
  let output = '';
  server.stdout.on('data', (text) => (output += text));
  await until(() => /http:\S+/.test(output) || server.exitCode !== null, 'the address of the game');
  const address = output.match(/http:\S+/)[0];

  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic',
      '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  t.after(() => browser.close());
  const problems = [];
  const open = async () => {
    const page = await (await browser.newContext({ viewport: { width: 320, height: 240 } })).newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(address);
    await page.waitForFunction(() => window.game?.client.status === 'joined');
    return page;
  };
  const [one, two] = [await open(), await open()];
  for (const page of [one, two]) await page.waitForFunction(() => window.game.client.frame().count === 2);
  const place = (page) => page.evaluate(() => {
    const { client, objects } = window.game;
    const { ids } = client.frame();
    const first = Math.min(ids[0], ids[1]);
    return { name: client.name(first), ...objects.get(first).position };
  });
  const before = await place(two);
  assert.equal(before.name, 'Player 1');
  await one.keyboard.down('KeyD');
  await two.waitForFunction((x) => {
    const { client, objects } = window.game;
    const { ids } = client.frame();
    return objects.get(Math.min(ids[0], ids[1])).position.x > x + 3;
  }, before.x);
  await one.keyboard.up('KeyD');
  const size = await one.evaluate(() => performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('.wasm')).map((entry) => entry.name));
  assert.match(size[0], /reckoner_client\.wasm$/);
  await one.close({ runBeforeUnload: false });
  await two.waitForFunction(() => window.game.client.frame().count === 1);
  assert.deepEqual(problems, []);
});
