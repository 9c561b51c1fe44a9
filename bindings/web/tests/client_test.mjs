// SPDX-License-Identifier: MIT
// The client in Node.js, with a real reckoner-server on this machine.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bodies, connect, nodeTransport, reckonerServer, ReckonerError, root, sleep, until } from './support.mjs';

const options = () => ({ archetypes: bodies, transport: nodeTransport() });

test('sees the entities of a server move', async () => {
  const server = await reckonerServer(20, '--insecure');
  const client = await connect(server.address, options());
  const names = new Set();
  client.on('spawned', ({ name, archetype }) => names.add(`${name} ${archetype}`));
  await until(() => client.frame().count === 20, '20 entities');
  assert.equal(names.size, 20); // no event is lost between the join and the first listener
  assert.ok(names.has('walker7 body'));
  const before = client.frame();
  const { ids, positions, quaternions, count, time } = before;
  const places = new Map(Array.from(ids.subarray(0, count), (id, i) => [id, [...positions.subarray(3 * i, 3 * i + 3)]]));
  for (let i = 0; i < count; ++i) assert.ok(Math.abs(Math.hypot(...quaternions.subarray(4 * i, 4 * i + 4)) - 1) < 1e-5);
  await sleep(2000);
  const after = client.frame();
  assert.equal(after, before); // one object for all pictures
  assert.ok(after.time > time + 1.5 && after.time < time + 4, `${after.time - time} s have passed`);
  let moved = 0;
  for (let i = 0; i < after.count; ++i) {
    const place = places.get(after.ids[i]);
    const by = Math.hypot(...[0, 1, 2].map((k) => after.positions[3 * i + k] - place[k]));
    assert.ok(by < 12, `a walker moved ${by} m`);
    if (by > 0.3) ++moved;
  }
  assert.ok(moved > 10, `only ${moved} of 20 walkers moved`);
  assert.ok(client.serverTime > 0);
  assert.ok(client.stats.updatesApplied > 20);
  assert.equal(client.status, 'joined');
  await client.leave();
  assert.deepEqual(client.closed, { why: 'left', reason: 'this client has left' });
  assert.throws(() => client.send('late'), { name: 'ReckonerError', message: 'the client is closed: this client has left' });
  assert.equal(client.frame().count, 0);
  await server.stop();
});

test('says why it cannot join, in one sentence', async () => {
  const refused = (address, more, pattern) => assert.rejects(connect(address, { ...options(), ...more }), (error) => {
    assert.ok(error instanceof ReckonerError, error);
    assert.match(error.message, pattern);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  });
  await refused('ws://127.0.0.1:9', {}, /^ws:\/\/127\.0\.0\.1:9: the server does not answer; the WebSocket could not be opened$/);
  const scratch = mkdtempSync(join(tmpdir(), 'reckoner-'));
  const token = (...more) => execFileSync(join(root, 'build/bin/reckoner-token'), more, { cwd: scratch, stdio: 'ignore' });
  token('key', 'game.key');
  const server = await reckonerServer(20, '--key', join(scratch, 'game.key'));
  const notAdmitted = /the server did not admit this client: the token is missing, wrong, expired or used, or the server is full$/;
  await refused(server.address, {}, notAdmitted);
  await refused(server.address, { token: new Uint8Array(1024).fill(7) }, notAdmitted);
  await refused(server.address, { token: new Uint8Array(1025) }, /the token could not be had: it has 1025 bytes, and at most 1024 are allowed/);
  await refused(server.address, { token: () => Promise.reject(new Error('the backend is down')) }, /the token could not be had: the backend is down/);
  token('issue', 'a.token', '--key', 'game.key', '--server', `127.0.0.1:${server.port}`, '--client-id', '7');
  const bytes = new Uint8Array(readFileSync(join(scratch, 'a.token')));
  const client = await connect(server.address, { ...options(), token: bytes });
  assert.equal(client.status, 'joined');
  await refused(server.address, { token: bytes }, notAdmitted); // it is valid once
  await refused(server.address, { token: 'x', archetypes: [{ name: 'other' }] }, notAdmitted);
  await client.leave();
  await server.stop();

  const open = await reckonerServer(20, '--insecure');
  await refused(open.address, { archetypes: [{ name: 'other' }] }, /archetypes/);
  await refused(open.address, { archetypes: [{ name: 'x', thresholdM: -1 }] }, /threshold/);
  await open.stop();
  rmSync(scratch, { recursive: true });
});

test('refuses wrong settings before it connects', async () => {
  const wrong = (more, pattern) => assert.rejects(connect('ws://127.0.0.1:9', { ...options(), ...more }), pattern);
  await wrong({ mode: 'past' }, /mode is "past"; it must be present, adaptive, delayed, ahead/);
  await wrong({ blendS: -1 }, /blend_s/);
  await wrong({ delayS: 'soon' }, /delayS must be a number/);
  await wrong({ color: 1 }, /color is no setting/);
  await wrong({ archetypes: [] }, /archetypes/);
  await wrong({ archetypes: [{ name: 'x', fields: [{ name: 'h', type: 'text' }] }] }, /type is "text"/);
  await wrong({ archetypes: [{ name: 'x', fields: [{ name: 'h', type: 'boolean', initial: 1 }] }] }, /h is a field of type boolean/);
  await wrong({ signal: AbortSignal.abort(new Error('no time')) }, /no time/);
  await wrong({ transport: { open: () => { throw new Error('no such scheme'); } } }, /could not be opened \(no such scheme\)/);
});

test('a server that ends closes the client; one that is gone is looked for again', async () => {
  const server = await reckonerServer(20, '--insecure');
  const client = await connect(server.address, { ...options(), reconnect: false });
  const events = [];
  for (const name of ['serverClosed', 'lost', 'closed']) client.on(name, () => events.push(name));
  const patient = await connect(server.address, { ...options(), reconnectGiveUpS: 2 });
  const lost = patient.next('lost');
  const closed = patient.next('closed');
  await server.stop('SIGKILL');
  await until(() => client.closed, 'the end of the client');
  assert.deepEqual(events, ['closed']);
  assert.equal(client.closed.why, 'disconnected');
  assert.match((await lost).reason, /^the connection ended$/);
  assert.equal(patient.status, 'reconnecting');
  const { why, reason } = await closed;
  assert.equal(why, 'disconnected');
  assert.match(reason, /^the server does not answer; the WebSocket could not be opened$/);
});

// The frames follow each other so closely that no message arrives or is due, because these cost memory: WebSockets take
// and give new objects.
test('frame() allocates nothing', async (t) => {
  assert.ok(globalThis.gc, 'run node with --expose-gc');
  const server = await reckonerServer(500, '--insecure');
  const client = await connect(server.address, options());
  await until(() => client.frame().count === 500, '500 entities');
  // `step`: ms between pictures. With 0, the caller makes no new number, either.
  const draw = (count, step) => {
    let sum = 0;
    let now = performance.now();
    for (let n = 0; n < count; ++n) {
      if (step > 0) now += step;
      const { ids, positions, quaternions, count: entities } = client.frame(now);
      for (let i = 0; i < entities; ++i) sum += ids[i] + positions[3 * i] + quaternions[4 * i];
    }
    assert.ok(Number.isFinite(sum));
  };
  const frames = 2000;
  let least = Infinity;
  let fastest = Infinity;
  for (let round = 0; round < 10; ++round) {
    const started = performance.now();
    draw(frames / 2, 1e-3);
    fastest = Math.min(fastest, (performance.now() - started) / (frames / 2));
    await sleep(50); // JavaScript's compiler has a thread of its own
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    draw(frames, 0);
    least = Math.min(least, (process.memoryUsage().heapUsed - before) / frames);
    if (round > 3 && least < 24) break;
  }
  t.diagnostic(`frame() with 500 entities: ${least.toFixed(1)} bytes of heap, ${fastest.toFixed(3)} ms`);
  // Code that JavaScript's compiler has not optimised puts the time into an object of 16 bytes; nothing else is new.
  assert.ok(least < 24, `${least} bytes for each frame`);
  await client.leave();
  await server.stop();
});

test('the heap does not grow while a game runs', async (t) => {
  const server = await reckonerServer(100, '--insecure');
  const client = await connect(server.address, options());
  await until(() => client.frame().count === 100, '100 entities');
  const play = async (seconds) => {
    for (const end = performance.now() + 1000 * seconds; performance.now() < end;) {
      client.frame();
      await sleep(1000 / 60);
    }
    globalThis.gc();
    await sleep(50); // what sockets have let go
    globalThis.gc();
    return process.memoryUsage();
  };
  let before = await play(2);
  let grown = Infinity;
  for (let round = 0; round < 3 && grown >= 100_000; ++round) { // what JavaScript's compiler keeps comes once
    const now = await play(Number(process.env.HEAP_SECONDS ?? 3));
    grown = now.heapUsed + now.arrayBuffers - before.heapUsed - before.arrayBuffers;
    before = now;
  }
  t.diagnostic(`the heap grew by ${grown} bytes`);
  assert.ok(grown < 100_000, `${grown} bytes`);
  await client.leave();
  await server.stop();
});
