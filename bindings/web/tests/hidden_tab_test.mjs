// SPDX-License-Identifier: MIT
// A page in a hidden tab: browsers draw nothing, and run timers once a second, after five minutes once a minute. They still
// deliver what arrives on a WebSocket. In virtual time: server, client, network and timers have one clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, createServer, players, sleep } from './support.mjs';

const tickS = 1 / 60;
const speed = 2; // m/s

/** A client and a server with a ball that moves along a circle, and a network with a latency. */
class World {
  now = 1000; // s
  #queue = [];
  #timer;
  #timerDue = 0;
  timerEveryS = 0.1;
  frozen = false; // the page gets nothing: the laptop sleeps
  events = [];

  static async make(t) {
    const world = new World();
    t.mock.method(globalThis, 'setInterval', (callback) => ((world.#timer = callback), 1));
    t.mock.method(globalThis, 'clearInterval', () => (world.#timer = undefined));
    const clock = () => world.now * 1000;
    world.server = await createServer({ archetypes: players, tickRateHz: 60, resumeS: 60, clock });
    world.ball = world.server.spawn('ball', world.truth());
    for (const name of ['clientLost', 'clientLeft', 'clientBack']) world.server.on(name, () => world.events.push(name));
    let joined = false;
    const joining = connect('virtual:', { archetypes: players, clock, transport: world.transport(), reconnectFirstWaitS: 0.5 }).then((client) => {
      world.client = client;
      joined = true;
    });
    while (!joined) {
      world.step();
      await sleep(0); // the token and the promise
    }
    await joining;
    for (const name of ['lost', 'resumed', 'restarted', 'snapped', 'closed', 'spawned', 'message']) world.client.on(name, () => world.events.push(name));
    await sleep(5); // events begin
    return world;
  }

  truth() {
    const angle = (speed * this.now) / 10;
    return { position: [10 * Math.cos(angle), 10 * Math.sin(angle), 0], velocity: [-speed * Math.sin(angle), speed * Math.cos(angle), 0] };
  }
  /** The two ends of one stream. */
  transport() {
    return {
      open: (_address, page) => {
        let up = true;
        const later = (to, act) => this.#queue.push({ due: this.now + 0.03, to, act });
        let dead = false;
        this.kill = () => (dead = true);
        const end = () => {
          if (!up) return;
          up = false;
          later('page', () => dead || page.closed());
          later('server', () => server.closed());
        };
        const server = this.server.accept({
          send: (message) => later('page', () => dead || page.received(message)),
          close: end,
          waiting: () => 0,
        }, '192.0.2.1');
        later('page', () => page.opened());
        return {
          send: (message) => {
            const copy = message.slice();
            if (up && !dead) later('server', () => server.received(copy));
            return up;
          },
          close: end,
        };
      },
    };
  }
  step() {
    this.now += tickS;
    const due = this.#queue.filter((one) => one.due <= this.now && !(this.frozen && one.to === 'page'));
    this.#queue = this.#queue.filter((one) => !due.includes(one));
    for (const { act } of due) act();
    this.server.process();
    this.server.move(this.ball, this.truth());
    this.server.tick();
    if (this.frozen || this.now < this.#timerDue) return;
    this.#timerDue = this.now + this.timerEveryS;
    this.#timer?.();
  }
  async play(seconds, each = () => {}) {
    for (let i = 0; i * tickS < seconds; ++i) {
      this.step();
      each();
      if (i % 6 === 0) await sleep(0); // promises
    }
  }
  /** How far the shown ball is from the truth, m. */
  error() {
    const { positions, count } = this.client.frame();
    assert.equal(count, 1);
    const { position } = this.truth();
    return Math.hypot(...[0, 1, 2].map((i) => positions[i] - position[i]));
  }
}

test('a hidden tab keeps its session and its events, and shows the present when it comes back', async (t) => {
  const world = await World.make(t);
  await world.play(3, () => world.client.frame());
  assert.ok(world.error() < 0.1, `${world.error()} m`);
  for (const [seconds, timer] of [[60, 1], [200, 60]]) {
    world.timerEveryS = timer;
    await world.play(seconds); // no frame()
    world.server.broadcast('while hidden');
    world.server.spawn('ball', { position: [0, 0, 5] }, { name: 'new' });
    const before = world.events.length;
    await world.play(1);
    assert.deepEqual(world.events.slice(before).sort(), ['message', 'spawned'], 'events come at once, without a timer');
    world.server.despawn(world.server.entities().find((entity) => entity !== world.ball));
    await world.play(1);
  }
  const errors = [];
  await world.play(2, () => errors.push(world.error()));
  t.diagnostic(`after 4 minutes in a hidden tab: ${errors[0].toFixed(3)} m from the truth in the first picture, ${errors.at(-1).toFixed(3)} m after 2 s`);
  assert.ok(errors[0] < 0.2, `${errors[0]} m`);
  assert.ok(errors.at(-1) < 0.1);
  assert.deepEqual(world.events.filter((name) => !['spawned', 'message', 'snapped'].includes(name)), []);
  assert.equal(world.client.stats.connectionsLost, 0);
});

test('a laptop that sleeps for half a minute resumes its session', async (t) => {
  const world = await World.make(t);
  await world.play(3, () => world.client.frame());
  world.frozen = true;
  await world.play(30);
  assert.deepEqual(world.events.filter((name) => name.startsWith('client')), ['clientLost']);
  world.server.broadcast('while asleep');
  world.frozen = false;
  let resumedS;
  const woke = world.now;
  world.client.on('resumed', () => (resumedS = world.now - woke));
  await world.play(5, () => world.client.frame());
  t.diagnostic(`resumed ${resumedS?.toFixed(2)} s after the laptop woke`);
  assert.ok(resumedS < 2, `${resumedS} s`);
  assert.ok(world.events.includes('clientBack'));
  assert.ok(!world.events.includes('restarted'));
  assert.equal(world.events.filter((name) => name === 'message').length, 1); // no reliable message is lost
  assert.ok(world.error() < 0.1, `${world.error()} m`);
});

test('a WebSocket that is dead without a close event, as in Safari on iOS, is replaced', async (t) => {
  const world = await World.make(t);
  await world.play(3, () => world.client.frame());
  world.frozen = true;
  await world.play(20);
  world.kill();
  world.frozen = false;
  let resumedS;
  const woke = world.now;
  world.client.on('resumed', () => (resumedS = world.now - woke));
  await world.play(8, () => world.client.frame());
  t.diagnostic(`resumed ${resumedS?.toFixed(2)} s after the page came back`);
  assert.ok(resumedS < 6, `${resumedS} s`);
  assert.ok(world.error() < 0.1);
});

test('after a sleep that is longer than resumeS, the client has a new session', async (t) => {
  const world = await World.make(t);
  await world.play(1, () => world.client.frame());
  world.frozen = true;
  await world.play(90);
  world.frozen = false;
  await world.play(5, () => world.client.frame());
  assert.ok(world.events.includes('clientLeft'));
  assert.ok(world.events.includes('restarted'));
  assert.equal(world.client.status, 'joined');
  assert.ok(world.error() < 0.1);
});
