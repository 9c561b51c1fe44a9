// SPDX-License-Identifier: MIT
// The packages as somebody gets them: packed, installed into an empty folder, and type-checked.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { here, packages } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'reckoner-'));
const names = ['client', 'server', 'three'];
const run = (command, ...options) => execFileSync(command, options, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const tools = join(here, '../node_modules');

before(() => {
  const files = names.map((name) => join(folder, run('npm', 'pack', '--silent', join(packages, name)).trim().split('\n').at(-1)));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--silent', ...files, `file:${join(tools, 'three')}`);
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  for (const name of ['node', 'three']) symlinkSync(join(tools, '@types', name), join(folder, 'node_modules/@types', name));
});
after(() => rmSync(folder, { recursive: true }));

test('the modules and packages are small', (t) => {
  const installed = join(folder, 'node_modules/@reckoner');
  const gzipped = (file) => gzipSync(readFileSync(file), { level: 9 }).length;
  const client = gzipped(join(installed, 'client/client/reckoner_client.wasm'));
  const server = gzipped(join(installed, 'server/server/reckoner_server.wasm'));
  t.diagnostic(`gzipped: reckoner_client.wasm ${client} bytes, reckoner_server.wasm ${server} bytes`);
  const scripts = readdirSync(join(installed, 'client'), { recursive: true }).filter((name) => name.endsWith('.js'));
  const javaScript = scripts.reduce((sum, name) => sum + gzipped(join(installed, 'client', name)), 0);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.tgz'))) t.diagnostic(`${file}: ${statSync(join(folder, file)).size} bytes`);
  t.diagnostic(`gzipped JavaScript of the client: ${javaScript} bytes`);
  assert.ok(client + javaScript <= 250_000);
  assert.ok(server <= 400_000);
});

test('an installed client joins an installed server', () => {
  writeFileSync(join(folder, 'game.mjs'), `
    import { createServer } from '@reckoner/server';
    import { connect, webSocketTransport } from '@reckoner/client';
    import { WebSocket } from 'ws';
    const archetypes = [{ name: 'player' }];
    const server = await createServer({ archetypes });
    const port = await server.listen({ host: '127.0.0.1' });
    server.spawn('player', { position: [1, 2, 3] });
    server.start(() => {});
    const client = await connect('ws://127.0.0.1:' + port, { archetypes, transport: webSocketTransport((address, protocols) => new WebSocket(address, protocols)) });
    const timer = setInterval(async () => {
      const { count, positions } = client.frame();
      if (count === 0) return;
      clearInterval(timer);
      console.log(...positions.subarray(0, 3));
      await client.leave();
      await server.close();
    }, 10);`);
  const [x, y, z] = run('node', 'game.mjs').trim().split(' ').map(Number);
  assert.ok(Math.hypot(x - 1, y - 2, z - 3) < 0.05, `${[x, y, z]}`);
});

const types = (name, text, options) => {
  writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { strict: true, noEmit: true, target: 'ES2022', ...options }, files: [name] }));
  try {
    execFileSync(join(tools, '.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    return '';
  } catch (error) {
    return error.stdout;
  }
};
const page = `
  import { connect, type Frame } from '@reckoner/client';
  const client = await connect('wss://game.example', { archetypes: [{ name: 'player', fields: [{ name: 'health', type: 'integer', most: 100 }] }], mode: 'adaptive', blendS: 0.2, token: async () => 'jwt' });
  client.on('spawned', ({ entity, name }) => { const id: number = entity; const text: string = name; void id; void text; });
  const frame: Frame = client.frame();
  const x: number = frame.positions[0]!;
  client.on('closed', ({ why }) => { const all: 'left' | 'refused' | 'disconnected' = why; void all; });
  export { x };`;

test('the types of the client fit a page, as bundlers resolve it', () => {
  assert.equal(types('page.ts', page, { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'], types: [] }), '');
});

test('the types of the client fit Node.js without those of the DOM', () => {
  assert.equal(types('bot.ts', page, { module: 'NodeNext', lib: ['ES2022'], types: ['node'] }), '');
});

test('the types of the server and of three fit', () => {
  assert.equal(types('server.ts', `
    import { createServer } from '@reckoner/server';
    const server = await createServer({ archetypes: [{ name: 'player' }], tickRateHz: 30, authenticate: () => ({ clientId: 7 }) });
    const port: number = await server.listen({ port: 8080 });
    server.on('clientJoined', ({ client }) => server.give(server.spawn('player'), client, { policy: 'refuse', maxAccelerationMps2: 50 }));
    server.start((tick: number, time: number) => void (tick + time));
    export { port };`, { module: 'NodeNext', lib: ['ES2022'], types: ['node'] }), '');
  assert.equal(types('scene.ts', `
    import { connect } from '@reckoner/client';
    import { EntityObjects } from '@reckoner/three';
    import { Mesh, Scene } from 'three';
    const client = await connect('wss://game.example', { archetypes: [{ name: 'player' }] });
    const objects = new EntityObjects(client, new Scene(), () => new Mesh());
    objects.update();`, { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'], types: [], skipLibCheck: true }), '');
});

test('wrong types are errors', () => {
  const wrong = types('wrong.ts', `
    import { connect } from '@reckoner/client';
    const client = await connect('wss://x', { archetypes: [{ name: 'player', fields: [{ name: 'h', type: 'text' }] }], mode: 'past' });
    await connect('wss://x', { archetypes: [], colour: 1 });
    client.on('nothing', () => {});
    client.send(5);
    export {};`, { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'], types: [] });
  assert.equal((wrong.match(/error TS/g) ?? []).length, 5, wrong);
});
