// SPDX-License-Identifier: MIT
// The data channel beside a WebSocket. Browser and network are stubs here; channel_page_test.mjs has real ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webSocketTransport } from './support.mjs';

const state = (...rest) => Uint8Array.of(1, ...rest);
const welcome = Uint8Array.of(3);
const settled = async () => { for (let i = 0; i < 10; ++i) await Promise.resolve(); };

/** A page with a WebSocket and, per offer, a peer connection, as a browser would have them. */
function world(t, { protocol = 'reckoner.channels', broken = false } = {}) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const all = { peers: [], sent: [], said: [], received: [], moves: [], protocols: null };
  class Peer {
    constructor() {
      if (broken) throw new Error('not here');
      all.peers.push(this);
    }
    createDataChannel(label, options) {
      this.channel = {
        label, options, readyState: 'connecting', bufferedAmount: 0, sent: [],
        send(message) {
          if (this.readyState !== 'open') throw new Error('InvalidStateError');
          this.sent.push([...message]);
        },
      };
      return this.channel;
    }
    async createOffer() { return { type: 'offer', sdp: 'v=0 offer' }; }
    async setLocalDescription(description) { this.localDescription = description; }
    async setRemoteDescription(description) {
      this.remote = description;
      if (description.sdp === 'nonsense') throw new Error('it is no SDP');
    }
    close() { this.closed = true; }
    open() {
      this.channel.readyState = 'open';
      this.channel.onopen();
    }
    hear(...bytes) { this.channel.onmessage({ data: Uint8Array.from(bytes).buffer }); }
  }
  const listeners = {};
  const socket = {
    readyState: 1, protocol,
    addEventListener: (type, listener) => (listeners[type] = listener),
    send: (data) => (typeof data === 'string' ? all.said.push(data) : all.sent.push([...data])),
    close() { this.readyState = 3; },
  };
  const transport = webSocketTransport((_, protocols) => ((all.protocols = protocols), socket), { peerConnection: Peer });
  all.connection = transport.open('ws://x', {
    opened() {}, closed: () => all.received.push('closed'), received: (message) => all.received.push([...message]), moved: (...move) => all.moves.push(move),
  });
  all.hear = (data) => listeners.message({ data: typeof data === 'string' ? data : data.slice().buffer });
  all.end = () => ((socket.readyState = 3), listeners.close());
  all.tick = (seconds) => t.mock.timers.tick(seconds * 1000);
  all.join = async () => {
    all.hear(welcome);
    await settled();
    return all.peers.at(-1);
  };
  return all;
}

test('a page offers a channel after its welcome and moves when it opens', async (t) => {
  const page = world(t);
  assert.deepEqual(page.protocols, ['reckoner', 'reckoner.channels']);
  assert.equal(page.peers.length, 0);
  const peer = await page.join();
  assert.equal(peer.channel.label, 'reckoner');
  assert.deepEqual(peer.channel.options, { ordered: false, maxRetransmits: 0 });
  assert.deepEqual(page.said, ['offer\nv=0 offer']);
  page.connection.send(state(7));
  page.hear('answer\nv=0 answer');
  assert.deepEqual(peer.remote, { type: 'answer', sdp: 'v=0 answer' });
  assert.deepEqual(page.sent, [[1, 7]]); // it is not open yet
  peer.open();
  assert.deepEqual(page.moves.map(([bytes]) => bytes), [600]);
  page.connection.send(state(8));
  page.connection.send(Uint8Array.of(4, 0, 0, 0, 0)); // no state
  page.connection.send(new Uint8Array(602).fill(1)); // too large
  assert.deepEqual(peer.channel.sent, [[1, 8]]);
  assert.deepEqual(page.sent.map((message) => message.length), [2, 5, 602]);
  peer.hear(1, 9);
  assert.deepEqual(page.received, [[3], [1, 9]]);
});

test('state is written only while nothing waits, and only the newest', async (t) => {
  const page = world(t);
  const peer = await page.join();
  peer.open();
  const { channel } = peer;
  page.connection.send(state(1));
  channel.bufferedAmount = 2;
  const bytes = state(2);
  assert.equal(page.connection.send(bytes), true);
  assert.equal(page.connection.send(state(3)), true);
  bytes.fill(0); // the bytes are valid only during the call
  assert.deepEqual(channel.sent, [[1, 1]]);
  channel.bufferedAmount = 0;
  channel.onbufferedamountlow();
  channel.onbufferedamountlow();
  page.connection.send(state(4));
  assert.deepEqual(channel.sent, [[1, 1], [1, 3], [1, 4]]);
  assert.deepEqual(page.sent, []);
});

test('it goes back to the WebSocket when the channel closes or nothing arrives, and tells the server', async (t) => {
  const page = world(t);
  const first = await page.join();
  first.open();
  page.tick(1.5);
  first.hear(1, 1);
  page.tick(1.5);
  assert.deepEqual(page.moves.map(([bytes]) => bytes), [600]);
  page.tick(0.5);
  assert.deepEqual(page.moves.at(-1), [0, 'nothing arrives over the data channel']);
  assert.equal(page.said.at(-1), 'leave\nnothing arrives over the data channel');
  assert.ok(first.closed);
  page.connection.send(state(5));
  assert.deepEqual(page.sent, [[1, 5]]);
  first.hear(1, 2); // late
  first.channel.onclose();
  assert.deepEqual(page.received, [[3], [1, 1]]);

  // It tries again, each time after a longer wait.
  page.tick(19);
  assert.equal(page.peers.length, 1);
  page.tick(1);
  await settled();
  assert.equal(page.peers.length, 2);
  const second = page.peers[1];
  second.open();
  second.channel.onclose();
  assert.deepEqual(page.moves.map(([bytes]) => bytes), [600, 0, 600, 0]);
  page.tick(39);
  assert.equal(page.peers.length, 2);
  page.tick(1);
  assert.equal(page.peers.length, 3);
});

test('it stays on the WebSocket where UDP is blocked, the server refuses, or the browser has no channels', async (t) => {
  await t.test('blocked', async (s) => {
    const page = world(s);
    const peer = await page.join();
    page.hear('answer\nv=0');
    page.tick(9.75);
    assert.ok(!peer.closed);
    page.tick(0.25);
    assert.ok(peer.closed);
    assert.match(page.said.at(-1), /^leave\n.*UDP/);
    assert.deepEqual(page.moves, []);
  });
  await t.test('refused', async (s) => {
    const page = world(s);
    const peer = await page.join();
    page.hear('refused\nno room');
    assert.ok(peer.closed);
    assert.equal(page.said.length, 1); // the server knows
    page.connection.send(state(1));
    assert.deepEqual(page.sent, [[1, 1]]);
  });
  await t.test('answer that the browser refuses', async (s) => {
    const page = world(s);
    const peer = await page.join();
    page.hear('answer\nnonsense');
    await settled();
    assert.ok(peer.closed);
    assert.match(page.said.at(-1), /^leave\n.*it is no SDP/);
  });
  await t.test('broken', async (s) => {
    const page = world(s, { broken: true });
    await page.join();
    assert.deepEqual(page.said, []);
    page.connection.send(state(1));
    assert.deepEqual(page.sent, [[1, 1]]);
  });
  await t.test('server without channels', async (s) => {
    const page = world(s, { protocol: 'reckoner' });
    await page.join();
    assert.equal(page.peers.length, 0);
    assert.deepEqual(page.said, []); // it would close the connection
  });
});

test('the channel ends with the WebSocket', async (t) => {
  const page = world(t);
  const peer = await page.join();
  peer.open();
  page.end();
  assert.ok(peer.closed);
  assert.deepEqual(page.moves.map(([bytes]) => bytes), [600, 0]);
  assert.equal(page.received.at(-1), 'closed');
  page.tick(600);
  assert.equal(page.peers.length, 1);
  assert.deepEqual(page.said, ['offer\nv=0 offer']);
});
