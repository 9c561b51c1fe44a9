// SPDX-License-Identifier: MIT
// Drives the page of build/playground in Chromium, as a person would. node --test page_test.mjs
// With SCREENSHOTS=FOLDER, also writes pictures of the page.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = join(root, 'build/playground');
const { chromium } = createRequire(join(root, 'playground/web/package.json'))('playwright-core');
const pictures = process.env.SCREENSHOTS;
const patience = 60_000; // ms; a loaded machine draws with its processor
const scratch = mkdtempSync(join(tmpdir(), 'reckoner-'));
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.wasm': 'application/wasm' };

let server;
let browser;
let address;

before(async () => {
  server = createServer((request, response) => {
    const path = join(folder, decodeURI(new URL(request.url, 'http://x').pathname).replace(/\/$/, '/index.html'));
    if (!path.startsWith(folder) || !existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' });
    createReadStream(path).pipe(response);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
      '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
});

const children = new Set();

after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await browser?.close();
  server?.close();
  rmSync(scratch, { recursive: true });
});

async function open(hash = '', options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address.slice(0, -1) });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(address + (hash ? `#${hash}` : ''));
  await settled(page);
  return { page, problems, close: () => context.close() };
}

const settled = (page) => page.waitForFunction(() => document.body.dataset.state === 'ready', null, { timeout: patience });
const state = (page) => page.evaluate(() => window.playground.state);
async function change(page, act) {
  const before = (await state(page)).figures;
  await act();
  await page.waitForFunction((old) => document.body.dataset.state === 'ready' && window.playground.state.figures !== old, before, { timeout: patience });
}
// The page has each run of the harness, with every digit, in the order in which it has computed them.
function sameFigures(file, figures) {
  const runs = (all) => Object.fromEntries(all.map((run) => [run.method, run]));
  assert.deepEqual(runs(JSON.parse(figures)), runs(JSON.parse(readFileSync(file, 'utf8')).runs));
}
const picture = async (page, name) => pictures && page.screenshot({ path: join(pictures, `${name}.png`) });
const setSlider = (page, name, value) => page.fill(`#slider-${name}`, String(value)).then(() => page.press(`#slider-${name}`, 'Enter'));

test('controls change the figures, and the address reproduces them to the last digit', async () => {
  const { page, problems, close } = await open('seconds=10');
  assert.equal(await page.locator('#figures tbody tr').count(), 11);
  assert.deepEqual((await state(page)).methods, ['reckoner', 'snap']); // the others wait until somebody asks
  await change(page, () => page.click('#figures tr[data-method=tracker] button'));
  assert.deepEqual((await state(page)).methods, ['reckoner', 'snap', 'tracker']);
  await change(page, () => page.click('#presets button[data-network=mobile]'));
  await change(page, () => setSlider(page, 'loss', 12));
  await page.check('input[name=side][value=down]', { force: true });
  await change(page, () => setSlider(page, 'latency-ms', 140));
  await change(page, () => page.check('input[name=mode][value=adaptive]', { force: true }));
  await change(page, () => page.check('input[name=budget][value=threshold]', { force: true }));
  await change(page, () => setSlider(page, 'blend', 12));
  await change(page, () => page.check('input[name=curve][value=cubic]', { force: true }));
  const { figures } = await state(page);
  const link = page.url();
  assert.match(link, /down-latency-ms=140/);
  assert.match(link, /methods=tracker/);
  const other = await open(new URL(link).hash.slice(1));
  assert.equal((await state(other.page)).figures, figures);
  assert.deepEqual([...problems, ...other.problems], []);
  await close();
  await other.close();
});

// The page asks the module for the text, so that the clipboard has it a moment after the click.
const copied = async (page, button) => {
  await page.evaluate(() => navigator.clipboard.writeText(' '));
  await page.click(button);
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== ' ', null, { timeout: patience, polling: 50 });
  return page.evaluate(() => navigator.clipboard.readText());
};

test('the copied command prints the figures of the page', async () => {
  const { page, close } = await open('scenario=crowd&seconds=6&network=wifi&up-loss=9&mode=delayed&delay=120&budget=threshold&threshold=0.03');
  await change(page, () => page.click('#compute-all'));
  const command = await copied(page, '#copy-command');
  const json = join(scratch, 'figures.json');
  const words = command.split(' ').map((word) => (word === 'figures.json' ? json : word));
  assert.equal(words[0], 'reckoner-harness');
  execFileSync(join(root, 'build/bin/reckoner-harness'), words.slice(1), { stdio: ['ignore', 'ignore', 'inherit'] });
  assert.equal((await state(page)).methods.length, 11);
  sameFigures(json, (await state(page)).figures);
  assert.match(await copied(page, '#copy-cpp'), /client\.playout\.delay_s = 0\.12;/);
  await close();
});

test('a dropped recording plays, and a broken one shows the error of the programs', async () => {
  const { page, close } = await open('seconds=5');
  const rows = ['id,t,x,y,z'];
  for (let i = 0; i <= 600; ++i) rows.push(`car,${(i / 60).toFixed(4)},${(8 * Math.cos(i / 60)).toFixed(5)},${(8 * Math.sin(i / 60)).toFixed(5)},0`);
  const drop = (name, text) => page.evaluate(([n, t]) => {
    const data = new DataTransfer();
    data.items.add(new File([t], n, { type: 'text/csv' }));
    document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, text]);
  await change(page, () => drop('circle.csv', rows.join('\n')));
  const { figures, settings } = await state(page);
  assert.match(settings, /circle\.csv/);
  writeFileSync(join(scratch, 'circle.csv'), rows.join('\n'));
  const command = await copied(page, '#copy-command');
  const words = command.split(' ').slice(1).map((word) => (word === 'circle.csv' || word === 'figures.json' ? join(scratch, word) : word));
  execFileSync(join(root, 'build/bin/reckoner-harness'), words, { stdio: ['ignore', 'ignore', 'inherit'] });
  sameFigures(join(scratch, 'figures.json'), figures);
  await drop('broken.csv', 'id,t,x,y,z\ncar,0,1,2\n');
  await page.waitForSelector('#error:not([hidden])');
  assert.equal(await page.textContent('#error'), 'broken.csv:2: expected 5 fields, found 4');
  await close();
});

test('play, scrub, slow motion and the keyboard', async () => {
  const { page, problems, close } = await open('seconds=10');
  assert.equal((await state(page)).playing, false);
  await page.focus('#scene');
  await page.keyboard.press('Space');
  await page.waitForFunction(() => window.playground.state.time_s > 0.3, null, { timeout: patience });
  await page.keyboard.press('Space');
  await page.keyboard.press('Home');
  for (let i = 0; i < 3; ++i) await page.keyboard.press('ArrowRight');
  assert.ok(Math.abs((await state(page)).time_s - 3 / 60) < 1e-9);
  await page.fill('#scrub', '5');
  assert.equal((await state(page)).time_s, 5);
  await page.selectOption('#speed', '0.1');
  // Every control can be reached with the Tab key and has a name.
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, canvas')]
    .filter((e) => e.offsetParent !== null && !e.hidden && e.type !== 'file')
    .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML));
  assert.deepEqual(nameless, []);
  await page.focus('#tab-replay');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.isVisible('#panel-map'), true);
  await page.keyboard.press('ArrowLeft');
  await page.focus('#presets button[aria-checked=true]');
  await change(page, () => page.keyboard.press('ArrowRight'));
  assert.deepEqual(problems, []);
  await close();
});

// Pixels of the view: a grid of samples per pane, as values of green.
const samples = async (page, canvas = '#scene') => page.evaluate(async (png) => {
  const from = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const copy = Object.assign(document.createElement('canvas'), { width: from.width, height: from.height });
  const pen = copy.getContext('2d');
  pen.drawImage(from, 0, 0);
  const { data } = pen.getImageData(0, 0, copy.width, copy.height);
  const panes = [[], []];
  for (let y = 4; y < copy.height; y += 5) {
    for (let x = 4; x < copy.width; x += 5) panes[x < copy.width / 2 ? 0 : 1].push(data[4 * (y * copy.width + x) + 1]);
  }
  return panes;
}, (await page.locator(canvas).screenshot()).toString('base64'));

// Waits until the page has drawn what it was told.
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// A packet can be chosen, and its bytes add up by entity and kind.
async function packetsCanBeChosen(page) {
  const text = () => page.textContent('#packet');
  assert.match(await text(), /Choose one/);
  await page.focus('#lane');
  // The keyboard goes through all packets in flight. Those of both panes tell what the server has sent.
  const seen = new Set();
  for (let i = 0; i < 30; ++i) {
    await page.keyboard.press('ArrowRight');
    const rows = await page.$$eval('#packet tbody tr', (all) => all.map((tr) => [...tr.cells].map((cell) => cell.textContent)));
    const [, method, bytes] = /Packet of (.*) from the .*: (\d+) bytes/.exec(await text());
    if (rows.length === 0) continue;
    const sum = rows.reduce((all, row) => all + Number(row[2]), 0);
    if (!/sent \d+ packets/.test(await text())) assert.ok(Math.abs(sum - Number(bytes)) < 0.01 * rows.length + 0.5, `${sum} of ${bytes}`);
    assert.ok(rows.some(([, kind]) => kind.startsWith('head')) && rows.some(([, kind]) => kind.startsWith('IP')), JSON.stringify(rows));
    if (rows.some(([entity, kind]) => entity.startsWith('walker') && kind === 'motion')) seen.add(method);
    if (seen.size === 2 && i > 6) break;
  }
  assert.deepEqual([...seen].sort(), ['Reckoner', 'drawing each update']);
  // A click beside all packets lets go, and a click on one chooses it.
  const { width, height } = await page.locator('#lane').boundingBox();
  await page.click('#lane', { position: { x: width / 2, y: height - 2 } });
  assert.match(await text(), /Choose one/);
  for (let x = 60; x < width / 2 - 50 && /Choose one/.test(await text()); x += 20) await page.click('#lane', { position: { x, y: height * 0.34 } });
  assert.match(await text(), /^Packet of drawing each update/);
  await picture(page, 'packet');
}

test('two panes show the turn over a ground that goes everywhere, and any method on the left', async () => {
  const { page, problems, close } = await open('seconds=20');
  const first = await state(page);
  assert.ok(first.time_s > 1, `begins at ${first.time_s} s`);
  assert.match(await page.textContent('#left-off'), /^off by \d+ cm$/);
  assert.match(await page.textContent('#right-off'), /^off by \d+ cm$/);
  await change(page, () => page.selectOption('#left', 'lerp-buffer'));
  assert.deepEqual((await state(page)).methods, ['reckoner', 'snap', 'lerp-buffer']);
  assert.equal(await page.isChecked('#figures input[value=lerp-buffer]'), true);
  await page.check('#figures input[value=snap]');
  assert.equal(await page.inputValue('#left'), 'snap');
  await page.fill('#scrub', '4.02');
  await drawn(page);
  await packetsCanBeChosen(page);
  // A link leads to the same picture.
  await page.selectOption('#left', 'lerp-buffer');
  await page.selectOption('#followed', '2');
  await page.fill('#scrub', '7.25');
  await page.check('input[name=camera][value="2d"]', { force: true });
  await page.uncheck('#trails');
  await page.focus('#scene');
  for (const key of ['a', 'a', 'w', '+']) await page.keyboard.press(key);
  await page.click('#tab-map');
  const link = await copied(page, '#copy-link');
  const there = await open(new URL(link).hash.slice(1));
  const [here, then] = [await state(page), await state(there.page)];
  assert.equal(then.time_s, 7.25);
  assert.equal(then.view.follow, 2);
  assert.equal(then.view.flat, true);
  assert.equal(then.view.trails, false);
  assert.equal(then.view.left, 'lerp-buffer');
  for (const name of ['turn', 'tilt', 'zoom']) assert.ok(Math.abs(then.view[name] - here.view[name]) < 1e-3 && here.view[name] !== first.view[name], name);
  assert.equal(await there.page.inputValue('#followed'), '2');
  assert.equal(await there.page.isVisible('#panel-map'), true);
  await there.close();
  // Cars drive far. Seen from above, both panes show light and dark squares, and neither is one grey slab.
  // A method that showed too little has a reason instead of figures, and nothing is the best of one.
  await change(page, () => page.evaluate(() => (location.hash = 'seconds=6&down-loss=85')));
  assert.match(await page.textContent('#figures tr[data-method=reckoner]'), /no figures: reckoner: .*shown/);
  assert.equal(await page.textContent('#right-off'), 'showed too little');
  assert.ok(await page.locator('#figures tr[data-method=snap] td[data-figure]').count() > 3);
  assert.equal(await page.locator('#figures td.best').count(), 0);
  await change(page, () => page.evaluate(() => (location.hash = 'scenario=traffic&seconds=40&flat=1&at=39')));
  await page.waitForTimeout(300); // until it is drawn
  const panes = await samples(page);
  for (const pane of panes) {
    const counts = new Map();
    for (const grey of pane) counts.set(grey, (counts.get(grey) ?? 0) + 1);
    const common = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 2);
    assert.ok(Math.abs(common[0][0] - common[1][0]) >= 4, `two shades of squares: ${JSON.stringify(common)}`);
    for (const [, count] of common) assert.ok(count > 0.2 * pane.length, JSON.stringify(common));
  }
  assert.deepEqual([...problems, ...there.problems], []);
  await close();
});

test('the map is computed with progress, and a cell sets the network', async () => {
  const { page, close } = await open('seconds=4&scenario=orbit&entities=2');
  await page.click('#tab-map');
  const legend = await page.textContent('#map-legend');
  assert.match(legend, /error of Reckoner divided by that of drawing each update/);
  assert.match(legend, /Blue, below 1: Reckoner is better/);
  await page.click('#map-run');
  await page.waitForSelector('#map-progress:not([hidden])', { state: 'attached' });
  await page.waitForFunction(() => [...document.querySelectorAll('#map td button')].every((b) => b.textContent !== '·'), null, { timeout: patience });
  // Over the worst network, four seconds show too little for a figure; the others have one.
  const texts = await page.$$eval('#map td button', (all) => all.map((b) => b.textContent));
  assert.ok(texts.filter((text) => text !== '–').length > 0.8 * texts.length, texts.join(' '));
  await picture(page, 'map');
  await change(page, () => page.click('#map tbody tr:nth-child(4) td:nth-child(6) button'));
  assert.match(page.url(), /up-latency-ms=120&up-loss=5/);
  await close();
});

test('the blind comparison: Reckoner against one other in each round, and a sentence at the end', async () => {
  const { page, close } = await open('seconds=8&tab=blind');
  const seen = new Set();
  const preferred = ['reckoner', 'other', '', 'reckoner', 'reckoner'];
  for (let round = 0; round < 5; ++round) {
    await page.waitForFunction((n) => window.playground.state.blind.round === n && window.playground.state.blind.pair.length === 2, round + 1, { timeout: patience });
    assert.equal(await page.locator('#blind-result table').count(), 0);
    const { pair, moment } = (await state(page)).blind;
    assert.ok(pair.includes('reckoner'), pair.join());
    const other = pair.find((method) => method !== 'reckoner');
    assert.equal(seen.has(other), false);
    seen.add(other);
    assert.ok(moment.change_mps > 0.3, 'the clip shows a turn');
    assert.doesNotMatch(page.url(), new RegExp(`methods|${other}(?!=)`)); // the address does not tell
    if (round === 0) {
      // The camera stands still: the ground is the same a moment later, and both panes have moved bodies at most.
      const before = await samples(page, '#blind-scene');
      await page.click('#blind-play');
      await page.waitForFunction(() => window.playground.state.blind.clip_s > 0.4, null, { timeout: patience });
      const after = await samples(page, '#blind-scene');
      for (const i of [0, 1]) {
        const same = before[i].filter((grey, k) => Math.abs(grey - after[i][k]) < 3).length;
        assert.ok(same > 0.9 * before[i].length && same < before[i].length, `${same} of ${before[i].length} samples are equal`);
      }
      await page.click('#blind-play');
    }
    const want = preferred[round];
    await page.click(want === '' ? '#blind-none' : (want === 'reckoner') === (pair[0] === 'reckoner') ? '#blind-a' : '#blind-b');
  }
  assert.equal(await page.textContent('#blind-result .verdict'), 'You preferred Reckoner in 3 of 5 rounds and saw no difference in 1; chance would be 2.');
  assert.equal(await page.locator('#blind-result tbody tr').count(), 5);
  await picture(page, 'blind');
  await close();
});

test('a phone screen shows everything without scrolling sideways, in dark', async () => {
  const { page, problems, close } = await open('seconds=10', { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} pixels`);
  const [view, network] = [await page.locator('#view').boundingBox(), await page.locator('#network').boundingBox()];
  assert.ok(network.y < 844 && network.y - (view.y + view.height) < 80, 'the network is beside the picture');
  await page.fill('#scrub', '3');
  await page.waitForTimeout(500);
  await picture(page, 'phone');
  assert.deepEqual(problems, []);
  await close();
});

test('pictures of the desktop', { skip: !pictures && 'no SCREENSHOTS folder' }, async () => {
  for (const colorScheme of ['light', 'dark']) {
    const { page, close } = await open('seconds=20', { colorScheme, viewport: { width: 1440, height: 900 } });
    await page.fill('#scrub', '6.35');
    await page.waitForTimeout(1500);
    await picture(page, `desktop-${colorScheme}`);
    await page.screenshot({ path: join(pictures, `desktop-${colorScheme}-full.png`), fullPage: true });
    await close();
  }
});

test('the first visit has a tour of five steps, and the page then opens without a network and without the tour', async () => {
  const { page, problems, close } = await open();
  assert.equal(await page.isVisible('#tour'), true);
  const titles = new Set([await page.textContent('#tour-title')]);
  await page.focus('#tour-next');
  for (let step = 2; step <= 5; ++step) {
    await page.keyboard.press('Enter');
    assert.equal(await page.textContent('#tour-step'), `Step ${step} of 5`);
    assert.equal(await page.locator('.tour-target').count(), 1);
    titles.add(await page.textContent('#tour-title'));
  }
  assert.equal(titles.size, 5);
  await page.keyboard.press('Enter');
  assert.equal(await page.isVisible('#tour'), false);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tour-start');
  await page.keyboard.press('Enter'); // it can be seen again, and left at once
  assert.equal(await page.isVisible('#tour'), true);
  await page.keyboard.press('Escape');
  assert.equal(await page.isVisible('#tour'), false);
  assert.deepEqual(problems, []);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(async () => (await caches.keys()).length > 0 && !!(await caches.match('playground.wasm')), null, { timeout: patience });
  await page.reload();
  await settled(page);
  await page.context().setOffline(true);
  await page.reload();
  await settled(page);
  assert.equal(await page.locator('#figures tbody tr').count(), 11);
  assert.equal(await page.isVisible('#tour'), false);
  await close();
});

// A program of build/bin; `stop` ends it.
async function program(name, options, text) {
  const child = spawn(join(root, 'build/bin', name), options, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let output = '';
  const found = await new Promise((done, failed) => {
    const read = (bytes) => {
      output += bytes;
      if (text.test(output)) done(text.exec(output));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => failed(new Error(`${name} ended with ${code}: ${output}`)));
    child.on('error', failed);
  });
  return { found, stop: () => new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done(); // it has ended by itself
    child.removeAllListeners('exit');
    child.on('exit', done);
    child.kill('SIGTERM');
  }) };
}
const liveServer = (options) => program('reckoner-server', ['--scenario', 'crowd', '--entities', '20', '--port', '0',
  '--watch-port', '0', '--watch-page', folder, ...options], /port (\d+)[\s\S]*live view on (\S+)/);
const live = (page) => page.evaluate(() => window.live.state);
const joined = (page) => page.waitForFunction(() => window.live?.state.entities.length === 20 * 22, null, { timeout: patience });

async function openLive(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(url);
  await page.waitForFunction(() => document.body.dataset.state === 'ready', null, { timeout: patience });
  return { page, problems, close: () => context.close() };
}

test('a dropped session plays and is explained as by the harness', async () => {
  const session = join(scratch, 'strange.log');
  const decisions = join(scratch, 'decisions.csv');
  const server = await program('reckoner-server', ['--scenario', 'crowd', '--entities', '30', '--port', '0', '--insecure',
    '--bytes-per-second', '4000', '--decisions', decisions], /port (\d+)/);
  execFileSync(join(root, 'build/bin/reckoner-client'),
    ['--insecure', '--connect', `127.0.0.1:${server.found[1]}`, '--seconds', '6', '--record', session, '--quiet'], { stdio: 'ignore' });
  await server.stop();
  const json = join(scratch, 'steps.json');
  const explained = (...more) => {
    execFileSync(join(root, 'build/bin/reckoner-harness'), ['explain', session, '--worst', '20', '--json', json, ...more], { stdio: 'ignore' });
    return JSON.parse(readFileSync(json, 'utf8')).steps;
  };
  const { page, problems, close } = await open('seconds=3');
  await page.setInputFiles('#file', session);
  await page.waitForSelector('#steps li', { timeout: patience });
  const state = () => page.evaluate(() => window.playground.state.session);
  const inferred = explained();
  assert.ok(inferred.length > 0);
  assert.deepEqual((await state()).steps, inferred);
  assert.ok((await state()).frames > 5 * 60);
  const text = await page.textContent('#explanation');
  assert.ok(text.includes(inferred[0].sentence), text);
  await page.click('#steps li:last-child button');
  const last = inferred.at(-1);
  assert.ok((await page.textContent('#explanation')).includes(last.sentence));
  assert.ok(Math.abs((await state()).time_s - last.at_s) < 1e-9);
  // With the server's file, its causes are known.
  await page.setInputFiles('#file', decisions);
  await page.waitForFunction(() => document.getElementById('explain-about').textContent.includes('decisions'), null, { timeout: patience });
  const known = explained('--decisions', decisions);
  assert.deepEqual((await state()).steps, known);
  assert.ok(known.some((step) => step.known), JSON.stringify(known));
  await page.click('#steps li:first-child button');
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(500);
  await picture(page, 'explain');
  // A step on the timeline can be chosen, too.
  const timeline = page.locator('#timeline');
  const { width } = await timeline.boundingBox();
  await page.evaluate(() => document.getElementById('explanation').replaceChildren());
  await timeline.click({ position: { x: width / 2, y: 12 } });
  assert.ok((await page.textContent('#explanation')).includes(known[0].sentence));
  writeFileSync(join(scratch, 'broken.log'), readFileSync(session).subarray(0, 2000));
  await page.setInputFiles('#file', join(scratch, 'broken.log'));
  await page.waitForFunction(() => /truncated|damage/i.test(document.body.textContent), null, { timeout: patience });
  assert.deepEqual(problems, []);
  await close();
});

test('the live view joins a server, beside a native client', async () => {
  const server = await liveServer(['--insecure']);
  const [, port, url] = server.found;
  const native = await program('reckoner-client', ['--insecure', '--connect', `127.0.0.1:${port}`], /joined/);
  const { page, problems, close } = await openLive(url);
  await page.click('#connect');
  await joined(page);
  await page.waitForFunction(() => window.live.state.server?.clients === 2, null, { timeout: patience });
  const before = await live(page);
  // Slow machines draw few frames in a second.
  await page.waitForFunction((from) => {
    const now = window.live.state;
    const moved = now.entities.filter((value, i) => i % 22 === 1 && Math.abs(value - from.entities[i]) > 0.01).length;
    return moved >= 5 && now.client.server_time_s - from.client.server_time_s > 1;
  }, before, { timeout: patience });
  const after = await live(page);
  assert.equal(after.client.malformed, 0);
  assert.equal(after.server.watchers, 1);
  assert.equal(await page.locator('#links tbody tr').count(), 2);
  assert.equal(await page.locator('#entities tbody tr').count(), 20);
  await page.selectOption('#mode', 'delayed:250');
  await page.waitForFunction(() => window.live.state.client.delay_s > 0.2, null, { timeout: patience });
  await page.selectOption('#followed', { index: 3 });
  await page.waitForTimeout(500);
  await picture(page, 'live');
  await server.stop();
  await page.waitForSelector('#error:not([hidden])');
  assert.match(await page.textContent('#error'), /server|ended/);
  await native.stop().catch(() => {});
  assert.deepEqual(problems, []);
  await close();
});

test('the live view needs a token and TLS for a server with a key', async () => {
  const key = join(scratch, 'game.key');
  const pem = join(scratch, 'server.pem');
  execFileSync(join(root, 'build/bin/reckoner-token'), ['key', key], { stdio: 'ignore' });
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
    '-subj', '/CN=localhost', '-keyout', join(scratch, 'key.pem'), '-out', join(scratch, 'cert.pem')], { stdio: 'ignore' });
  writeFileSync(pem, readFileSync(join(scratch, 'cert.pem'), 'utf8') + readFileSync(join(scratch, 'key.pem'), 'utf8'));
  const server = await liveServer(['--key', key, '--host', '127.0.0.1', '--watch-certificate', pem]);
  const [, port, url] = server.found;
  assert.match(url, /^https:/);
  const { page, close } = await openLive(url, { ignoreHTTPSErrors: true });
  await page.click('#connect');
  await page.waitForSelector('#error:not([hidden])');
  assert.match(await page.textContent('#error'), /token may be missing/);
  const token = join(scratch, 'watch.token');
  execFileSync(join(root, 'build/bin/reckoner-token'),
    ['issue', token, '--key', key, '--server', `127.0.0.1:${port}`, '--client-id', '3'], { stdio: 'ignore' });
  await page.setInputFiles('#token', token);
  await page.waitForFunction(() => document.getElementById('token-help').textContent.includes('watch.token'));
  await page.click('#connect');
  await joined(page);
  await close();
  await server.stop();
});

test('the live view on a phone, in dark, does not scroll sideways', async () => {
  const server = await liveServer(['--insecure']);
  const { page, close } = await openLive(`${server.found[2]}?watch`, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  await joined(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} pixels`);
  await page.waitForTimeout(800);
  await picture(page, 'live-phone');
  await close();
  await server.stop();
});

test('the download is at most 1.5 MB compressed', async () => {
  const { gzipSync } = await import('node:zlib');
  let bytes = 0;
  for (const name of ['index.html', 'style.css', 'uplot.css', 'icon.svg', 'main.js', 'worker.js', 'live.html', 'live.js', 'offline.js', 'playground.wasm']) {
    bytes += gzipSync(readFileSync(join(folder, name))).length;
  }
  assert.ok(bytes <= 1.5e6, `${bytes} bytes`);
});
