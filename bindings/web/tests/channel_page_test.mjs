// SPDX-License-Identifier: MIT
// The npm client in a page of Chromium, with a real reckoner-server: the page moves to a data channel, and back when UDP is
// blocked. In a network namespace of its own, because browsers make data channels only where there is more than the loopback
// interface, and because UDP is blocked there.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bodies, here, packages, reckonerServer } from './support.mjs';

const host = '10.9.0.1';
const network = `ip link set lo up && ip link add rk0 type veth peer name rk1 && ip addr add ${host}/24 dev rk0 && ip link set rk0 up && ip link set rk1 up`;
// The rule of the machine's own addresses has to come after the one that blocks UDP.
const blockable = 'ip rule add pref 100 lookup local && ip rule del pref 0';
const blockUdp = () => execFileSync('ip', ['rule', 'add', 'pref', '50', 'ipproto', 'udp', 'blackhole']);
const unshare = process.getuid() === 0 ? ['-n'] : ['-rn'];

const page = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="main.js"></script>`;
const program = `
import { connect } from './client/client/index.js';
const began = performance.now();
window.events = [];
try {
  const client = await connect(\`ws://\${location.host}/\`, { archetypes: ${JSON.stringify(bodies)} });
  window.joinMs = performance.now() - began;
  for (const name of ['transportChanged', 'lost', 'resumed', 'restarted', 'closed']) {
    client.on(name, (event) => window.events.push({ name, ms: performance.now() - began, ...event }));
  }
  window.client = client;
  window.picture = () => {
    const { count, positions, time } = client.frame();
    return { count, time, positions: [...positions.subarray(0, 3 * count)], transport: client.transport, updates: client.stats.updatesApplied, status: client.status };
  };
} catch (error) {
  window.failure = String(error);
}
`;

if (process.env.RECKONER_NAMESPACE === undefined) {
  const works = spawnSync('unshare', [...unshare, 'sh', '-c', `${network} && ${blockable}`], { encoding: 'utf8' });
  test('a page moves to a data channel and back', { skip: works.status === 0 ? false : `no network namespace: ${works.stderr ?? works.error}` }, () => {
    const command = `${network} && ${blockable} && exec "$0" --test-reporter=spec "$1"`;
    const env = { ...process.env, RECKONER_NAMESPACE: '1' };
    delete env.NODE_TEST_CONTEXT; // it is a program of its own
    const run = spawnSync('unshare', [...unshare, 'sh', '-c', command, process.execPath, fileURLToPath(import.meta.url)], { encoding: 'utf8', env, timeout: 100_000 });
    if (process.env.SHOW) process.stderr.write(run.stdout);
    assert.equal(run.status, 0, run.stdout + run.stderr);
  });
} else {
  test('inside', async (t) => {
    const { chromium } = createRequire(join(here, '../package.json'))('playwright-core');
    const folder = mkdtempSync(join(tmpdir(), 'reckoner-'));
    t.after(() => rmSync(folder, { recursive: true }));
    symlinkSync(join(packages, 'client'), join(folder, 'client'));
    writeFileSync(join(folder, 'live.html'), page);
    writeFileSync(join(folder, 'main.js'), program);
    const server = await reckonerServer(20, '--insecure', '--watch-host', host, '--watch-page', folder);
    t.after(() => server.stop('SIGKILL'));
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    t.after(() => browser.close());
    const tab = await browser.newPage();
    tab.setDefaultTimeout(30_000);
    const problems = [];
    tab.on('pageerror', (error) => problems.push(String(error)));
    tab.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await tab.goto(server.address);
    await tab.waitForFunction(() => window.client || window.failure);
    assert.equal(await tab.evaluate(() => window.failure), undefined);
    const picture = () => tab.evaluate(() => window.picture());
    const moved = (before, after) => after.positions.filter((value, i) => Math.abs(value - before.positions[i]) > 0.05).length;

    await tab.waitForFunction(() => window.client.transport === 'data-channel');
    await tab.waitForFunction(() => window.picture().count === 20);
    const before = await picture();
    await tab.waitForFunction((old) => window.picture().time > old + 1, before.time);
    const over = await picture();
    assert.equal(over.transport, 'data-channel');
    assert.ok(moved(before, over) > 10, `only ${moved(before, over)} coordinates changed`);

    blockUdp();
    await tab.waitForFunction(() => window.client.transport === 'websocket');
    const blocked = await picture();
    await tab.waitForFunction(({ time, updates }) => window.picture().time > time + 1 && window.picture().updates > updates + 20, blocked);
    const after = await picture();
    assert.ok(moved(blocked, after) > 10, `only ${moved(blocked, after)} coordinates changed`);
    assert.equal(after.status, 'joined');
    const events = await tab.evaluate(() => window.events);
    assert.deepEqual(events.map(({ name, transport }) => `${name} ${transport}`), ['transportChanged data-channel', 'transportChanged websocket']);
    assert.equal(events[1].reason, 'nothing arrives over the data channel');
    assert.deepEqual(problems, []);
    t.diagnostic(`joined after ${(await tab.evaluate(() => window.joinMs)).toFixed(0)} ms, data channel after ${events[0].ms.toFixed(0)} ms`);
  });
}
