// SPDX-License-Identifier: MIT
// What the tests of the npm packages share. They test build/npm, which build.mjs has made.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, '../../..');
export const packages = process.env.RECKONER_PACKAGES ?? join(root, 'build/npm');
const library = await import(pathToFileURL(join(packages, 'client/client/index.js')));
export const { webSocketTransport, ReckonerError } = library;

// What a failed test has left behind must not keep the process from ending.
const clients = new Set();
const children = new Set();
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([...clients].map((client) => client.leave()));
});
export async function connect(...options) {
  const client = await library.connect(...options);
  clients.add(client);
  return client;
}
const { WebSocket } = createRequire(join(here, '../package.json'))('ws');

/** A transport over the package ws: Node.js 20 has no WebSocket of its own. `sockets` gets each socket. */
export const nodeTransport = (sockets = []) => webSocketTransport((address, protocols) => {
  const socket = new WebSocket(address, protocols, { origin: address.replace(/^ws/, 'http').replace(/\/$/, '') });
  sockets.push(socket);
  return socket;
});

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Waits until `condition` is true; a loaded machine is slow. */
export async function until(condition, what, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain: ${what}`);
    await sleep(10);
  }
}

/** The archetypes of reckoner-server. */
export const bodies = [
  { name: 'body', thresholdM: 0.05, thresholdRad: 0.05 },
  { name: 'point', thresholdM: 0.05, thresholdRad: 0.05, hasOrientation: false },
];

/** A running reckoner-server with a live view. */
export async function reckonerServer(entities, ...options) {
  const child = spawn(join(root, 'build/bin/reckoner-server'),
    ['--scenario', 'crowd', '--entities', String(entities), '--quiet', '--host', '127.0.0.1', '--port', '0', '--watch-port', '0', ...options], { stdio: ['ignore', 'pipe', process.env.SERVER_LOG ? 'inherit' : 'ignore'] });
  children.add(child);
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  const gone = new Promise((resolve) => child.on('exit', resolve));
  await until(() => /live view on (ws|http):/.test(output) || child.exitCode !== null, 'the address of the live view');
  return {
    address: output.match(/live view on (\S+)/)[1],
    port: Number(output.match(/port (\d+)/)[1]),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await gone;
    },
  };
}

export const { createServer } = await import(pathToFileURL(join(packages, 'server/server/index.js')));

/** A server in Node.js whose clients are players that can be given away. It runs until test `t` ends. */
export async function nodeServer(t, options = {}, step = () => {}) {
  const server = await createServer({ archetypes: players, tickRateHz: 60, ...options });
  const address = `ws://127.0.0.1:${await server.listen({ port: 0, host: '127.0.0.1' })}`;
  server.start((tick, time) => step(server, tick, time));
  t.after(() => server.close(0));
  return { server, address };
}
export const players = [{
  name: 'player', thresholdM: 0.01,
  fields: [
    { name: 'health', type: 'integer', most: 100, initial: 100 }, { name: 'shield', type: 'boolean' },
    { name: 'charge', type: 'real', most: 10, step: 0.5 }, { name: 'tag', type: 'blob', mostBytes: 8 },
  ],
}, { name: 'ball', hasOrientation: false }];
/** A client of such a server, which leaves when the test ends. */
export async function player(t, address, options = {}) {
  const client = await connect(address, { archetypes: players, transport: nodeTransport(), ...options });
  t.after(() => client.leave());
  return client;
}
