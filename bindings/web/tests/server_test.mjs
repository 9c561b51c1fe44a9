// SPDX-License-Identifier: MIT
// The server in Node.js, with clients in Node.js, over WebSockets of this machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, nodeServer, nodeTransport, player, players, sleep, until } from './support.mjs';

test('two clients see each other move, and the fields of both', async (t) => {
  const { server, address } = await nodeServer(t);
  const bodies = new Map();
  server.on('clientJoined', ({ client }) => {
    const entity = server.spawn('player', { position: [10 * client, 0, 0] }, { name: `player ${client}` });
    bodies.set(client, entity);
    server.give(entity, client);
  });
  const [one, two] = [await player(t, address), await player(t, address)];
  const given = [await one.next('given'), await two.next('given')].map(({ entity }) => entity);
  assert.deepEqual(given, [...bodies.values()]);
  assert.deepEqual(server.clients, [...bodies.keys()]);
  let x = 0;
  const where = (client, entity) => {
    const { ids, positions, count } = client.frame();
    const at = ids.subarray(0, count).indexOf(entity);
    return at < 0 ? undefined : [...positions.subarray(3 * at, 3 * at + 3)];
  };
  for (let i = 0; i < 60; ++i) {
    x += 1 / 60;
    one.frame();
    two.frame();
    one.move(given[0], { position: [10 + x, 0, 0], velocity: [1, 0, 0] });
    two.move(given[1], { position: [20, x, 0], velocity: [0, 1, 0] });
    await sleep(1000 / 60);
  }
  const [seen] = [where(two, given[0])];
  assert.ok(seen[0] > 10.3 && seen[0] < 12.5 && Math.abs(seen[1]) < 0.1, `${seen}`);
  assert.ok(where(one, given[1])[1] > 0.3);
  assert.equal(one.name(given[1]), 'player 2');
  assert.equal(one.archetype(given[1]), 'player');
  assert.equal(server.owner(given[0]), 1);
  assert.ok(server.state(given[0]).position[0] > 10.3);

  await sleep(1500); // a hidden page moves nothing, and its body comes to rest
  one.frame();
  const corrected = one.next('corrected');
  assert.equal(one.move(given[0], { position: [10, 0, 0] }), false);
  assert.equal((await corrected).entity, given[0]);
  assert.ok(one.owned(given[0]).position[0] > 10.3);
  assert.equal(one.move(given[0], one.owned(given[0])), true);

  const changed = one.next('fieldsChanged');
  server.setField(given[1], 'health', 42);
  server.setField(given[1], 'shield', true);
  server.setField(given[1], 'charge', 2.5);
  server.setField(given[1], 'tag', new Uint8Array([1, 2, 3]));
  assert.equal(server.field(given[1], 'charge'), 2.5);
  const { entity, fields } = await changed;
  assert.equal(entity, given[1]);
  assert.deepEqual(fields, ['health', 'shield', 'charge', 'tag']);
  await until(() => (one.frame(), one.field(entity, 'health') === 42), 'the new value');
  assert.equal(one.field(entity, 'shield'), true);
  assert.equal(one.field(entity, 'charge'), 2.5);
  assert.deepEqual([...one.field(entity, 'tag')], [1, 2, 3]);
  assert.throws(() => one.field(entity, 'speed'), /player has no field speed; it has health, shield, charge, tag/);
  assert.throws(() => server.setField(entity, 'health', 101), /setField/);

  const gone = one.next('despawned');
  server.despawn(given[1]);
  assert.equal((await gone).entity, given[1]);
  const revoked = one.next('revoked');
  server.revoke(given[0]);
  await revoked;
  assert.throws(() => one.move(given[0], { position: [0, 0, 0] }), { code: 'errorRefused', message: /^move: / });
});

test('messages travel both ways', async (t) => {
  const { server, address } = await nodeServer(t);
  server.on('message', ({ client, message }) => server.send(client, `you said ${message.text}`, { time: message.time }));
  const client = await player(t, address);
  const other = await player(t, address);
  const said = [];
  client.on('message', ({ text, time }) => said.push([text, time]));
  client.send('hello');
  client.send(new TextEncoder().encode('bytes'), { delivery: 'unreliable' });
  const stamp = client.serverTime;
  client.send('later', { time: stamp });
  await until(() => said.length === 3, 'three answers');
  assert.deepEqual(said.map(([text]) => text).sort(), ['you said bytes', 'you said hello', 'you said later']);
  assert.equal(said.find(([text]) => text.endsWith('later'))[1], stamp);
  const heard = [];
  other.on('message', ({ text }) => heard.push(text));
  client.on('message', ({ text }) => heard.push(`client: ${text}`));
  assert.equal(server.broadcast('to the others', { except: server.clients[0] }), 1);
  assert.equal(server.broadcast('to one', { clients: [server.clients[1]] }), 1);
  assert.equal(server.broadcast('near nobody', { centre: [1e4, 0, 0], radiusM: 1 }), 0);
  assert.equal(server.broadcast('to all', {}, { delivery: 'reliableUnordered' }), 2);
  await until(() => heard.length === 4, 'the broadcasts');
  assert.deepEqual(heard.sort(), ['client: to all', 'to all', 'to one', 'to the others']);
  assert.throws(() => client.send(''), { code: 'errorArgument' });
  assert.throws(() => client.send(new Uint8Array(16385)), /^ReckonerError: send: /);
  assert.throws(() => client.send('x', { delivery: 'pigeon' }), /delivery is "pigeon"; it must be reliable, unreliable, reliableUnordered/);
});

test('authenticate() decides who joins, and a kick is final', async (t) => {
  const asked = [];
  const { server, address } = await nodeServer(t, {
    authenticate: async (token, { address: from }) => {
      const text = new TextDecoder().decode(token);
      asked.push([text, from]);
      await sleep(20); // as a database
      if (text === 'broken') throw new Error('the database is down');
      return text.startsWith('player:') ? { clientId: Number(text.slice(7)), userData: `name of ${text}` } : null;
    },
  });
  t.mock.method(console, 'error', () => {}); // of the fault of authenticate()
  const joined = [];
  server.on('clientJoined', ({ identity }) => joined.push(identity.clientId));
  const notAdmitted = /the server did not admit this client: the token is missing, wrong, expired or used, or the server is full$/;
  await assert.rejects(player(t, address), notAdmitted);
  await assert.rejects(player(t, address, { token: 'wrong' }), notAdmitted);
  await assert.rejects(player(t, address, { token: 'broken' }), notAdmitted);
  const client = await player(t, address, { token: () => 'player:7' });
  assert.deepEqual(joined, [7]);
  const { userData } = server.identity(server.clients[0]);
  assert.equal(new TextDecoder().decode(userData).replace(/\0+$/, ''), 'name of player:7');
  assert.ok(asked.every(([, from]) => from === '127.0.0.1'), `${asked}`);
  const closed = client.next('closed');
  server.kick(server.clients[0], 'for cheating');
  const { why, reason } = await closed;
  assert.equal(why, 'refused');
  assert.match(reason, /for cheating/);
  await assert.rejects(player(t, address, { token: 'player:7' }), notAdmitted); // the token is no longer valid
  await player(t, address, { token: 'player:8' });
});

test('a newer session of a player ends the older one', async (t) => {
  const { address } = await nodeServer(t, { authenticate: () => ({ clientId: 7 }) });
  const older = await player(t, address, { token: 'a' });
  const closed = older.next('closed');
  await player(t, address, { token: 'b' });
  assert.equal((await closed).why, 'refused');
});

test('a client resumes its session after a change of the network', async (t) => {
  const { server, address } = await nodeServer(t, { resumeS: 30 });
  const events = [];
  for (const name of ['clientJoined', 'clientLost', 'clientBack', 'clientLeft']) server.on(name, () => events.push(name));
  const texts = [];
  server.on('message', ({ message }) => texts.push(message.text));
  server.spawn('ball', { position: [1, 2, 3] });
  const sockets = [];
  let tokens = 0;
  const client = await player(t, address, { transport: nodeTransport(sockets), token: () => `token ${++tokens}`, reconnectFirstWaitS: 0.1 });
  const told = [];
  for (const name of ['lost', 'resumed', 'restarted', 'spawned', 'despawned', 'closed', 'message']) client.on(name, () => told.push(name));
  await until(() => client.frame().count === 1, 'the ball');
  client.send('before');
  const lost = client.next('lost');
  sockets.at(-1).terminate(); // as when Wi-Fi ends
  await lost;
  client.send('while away');
  server.send(server.clients[0], 'for the client that is away');
  await client.next('resumed');
  await until(() => texts.length === 2 && told.includes('message'), 'the messages');
  assert.deepEqual(texts, ['before', 'while away']);
  assert.deepEqual(told.filter((name) => name !== 'message'), ['spawned', 'lost', 'resumed']);
  assert.deepEqual(events, ['clientJoined', 'clientLost', 'clientBack']);
  assert.equal(tokens, 2);
  assert.equal(client.frame().count, 1);
});

test('a token that is valid once ends a client that would have to reconnect', async (t) => {
  const used = new Set();
  const { address } = await nodeServer(t, { authenticate: (token) => (used.has(String(token)) ? null : used.add(String(token)) && true) });
  const sockets = [];
  const client = await player(t, address, { transport: nodeTransport(sockets), token: 'once', reconnectFirstWaitS: 0.1 });
  sockets.at(-1).terminate();
  const { why, reason } = await client.next('closed');
  assert.equal(why, 'refused');
  assert.match(reason, /pass a function as token/);
});

test('the player\'s own body is predicted, and a wrong prediction is corrected', async (t) => {
  const speed = 4;
  const advance = (state, input) => {
    const v = input.length ? speed * new Int8Array(input.buffer, input.byteOffset, 1)[0] : 0;
    return { ...state, position: [state.position[0] + v / 60, state.position[1], state.position[2]], velocity: [v, 0, 0] };
  };
  let body;
  let owner;
  const { server, address } = await nodeServer(t, {}, (s) => {
    if (body) s.move(body, advance(s.state(body), s.input(owner).bytes));
  });
  server.on('clientJoined', ({ client }) => {
    owner = client;
    body = server.spawn('player', { position: [0, 0, 0] });
    server.letPredict(body, client);
  });
  const client = await player(t, address, { mode: 'ahead' });
  let mine;
  client.on('predictionBegan', ({ entity }) => (mine = entity));
  let steps = 0;
  let direction = 0;
  client.predict({
    input: () => new Uint8Array(new Int8Array([direction]).buffer),
    step: (bodies, input) => {
      ++steps;
      for (const one of bodies) one.state = advance(one.state, input);
    },
  });
  await until(() => (client.frame(), mine === body && steps > 10), 'the prediction');
  direction = 1;
  for (let i = 0; i < 60; ++i) {
    client.frame();
    await sleep(1000 / 60);
  }
  const { positions, count } = client.frame();
  assert.equal(count, 1);
  assert.ok(positions[0] > 2, `moved ${positions[0]} m`);
  await until(() => (client.frame(), server.state(body).position[0] > 2), 'the inputs at the server');
  const before = client.stats.mispredictions;
  server.teleport(body, { position: [100, 0, 0] });
  await until(() => client.frame().positions[0] > 90, 'the correction');
  assert.ok(client.stats.mispredictions > before);
  server.stopPrediction(body, owner);
  await client.next('predictionEnded');
});

test('an entity that the player expects is shown at once', async (t) => {
  const { server, address } = await nodeServer(t);
  server.on('message', ({ client, message }) => {
    const key = Number(message.text);
    if (key === 2) server.refusePrediction(client, key);
    else server.spawnShortLived('ball', { position: [5, 0, 0] }, { predictedBy: client, key, endTime: server.nextTick.time + 30, data: new Uint8Array([9]) });
  });
  const client = await player(t, address);
  await until(() => (client.frame(), client.serverTime !== undefined), 'the clock');
  const shot = client.predictSpawn('ball', { position: [5, 0, 0] }, 1);
  assert.equal(client.frame().ids[0], shot);
  const spawned = client.next('spawned');
  client.send('1');
  const { entity, predicted } = await spawned;
  assert.equal(predicted, shot);
  const { data, endTime } = client.shortLived(entity);
  assert.deepEqual([...data], [9]);
  assert.ok(endTime > client.serverTime + 20 && endTime < client.serverTime + 31);
  const other = client.predictSpawn('ball', { position: [6, 0, 0] }, 2);
  client.send('2');
  assert.equal((await client.next('predictionFailed')).entity, other);
});

test('hostile and wrong input is refused, and honest clients go on', async (t) => {
  const { server, address } = await nodeServer(t, { joinTimeoutS: 0.3 });
  const honest = await player(t, address);
  const sockets = [];
  const open = () => new Promise((resolve) => {
    const connection = nodeTransport(sockets).open(address, { opened: () => resolve(connection), received: () => {}, closed: () => {} });
  });
  const closes = (socket) => new Promise((resolve) => socket.on('close', resolve));
  await open();
  await closes(sockets.at(-1)); // says nothing
  for (const bytes of [[], [0], [2], [1, 1, 2, 3], [3], [255, 1], Array(1200).fill(2)]) (await open()).send(new Uint8Array(bytes));
  await Promise.all(sockets.slice(1).map(closes));
  await open();
  sockets.at(-1).send('text');
  await closes(sockets.at(-1));
  await open();
  sockets.at(-1).send(new Uint8Array(5000));
  await closes(sockets.at(-1));
  const many = await Promise.all(Array.from({ length: 30 }, open)); // at most 16 from one address stay
  assert.equal(many.length, 30);
  await until(() => sockets.filter((socket) => socket.readyState === 1).length <= 16, 'the limit for one address');
  honest.send('still here');
  const { message } = await server.next('message');
  assert.equal(message.text, 'still here');
  assert.ok(server.stats.transportRefused >= 5, `${server.stats.transportRefused} were refused`);
  assert.equal(honest.status, 'joined');
});

test('refuses wrong settings and calls with one clear sentence', async (t) => {
  const { createServer } = await import('./support.mjs');
  await assert.rejects(createServer({ archetypes: players, tickRateHz: 0 }), /tick_rate_hz/);
  await assert.rejects(createServer({ archetypes: players, colour: 1 }), /colour is no setting/);
  const { server } = await nodeServer(t);
  assert.throws(() => server.spawn('dragon'), /there is no archetype dragon/);
  assert.throws(() => server.move(12345, { position: [0, 0, 0] }), { code: 'errorUnknown' });
  assert.throws(() => server.move(1, { position: [0, 0] }), /position must have 3 numbers/);
  assert.throws(() => server.spawn('player', { position: [NaN, 0, 0] }), /^ReckonerError: spawn: /);
  assert.throws(() => server.spawn('player', {}, { name: 'x'.repeat(65) }), /name/);
  assert.throws(() => server.setField(1, 'health', 1), /there is no entity 1/);
  assert.throws(() => server.start(() => {}), /the server runs already/);
  await server.close(0);
  assert.throws(() => server.spawn('player'), /the server is closed/);
});

test('a server that shuts down says so', async (t) => {
  const { server, address } = await nodeServer(t);
  const client = await player(t, address, { reconnect: false });
  const closed = client.next('closed');
  await server.close();
  assert.match((await closed).reason, /shut down|closed/);
  await assert.rejects(connect(address, { archetypes: players, transport: nodeTransport() }), /could not be opened/);
});
