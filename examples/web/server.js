// SPDX-License-Identifier: MIT
// The server of the game: a body for each player, and the files of the page. PORT=8080 node server.js
import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { extname, join } from 'node:path';
import { createServer } from '@reckoner/server';
import { archetypes } from './archetypes.js';

const folder = realpathSync(import.meta.dirname);
const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const http = createHttpServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  const path = join(folder, pathname === '/' ? 'index.html' : decodeURIComponent(pathname));
  const served = path.startsWith(join(folder, '/')) && types[extname(path)] && existsSync(path) && statSync(path).isFile();
  if (!served) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[extname(path)] });
  createReadStream(path).pipe(response);
});

const game = await createServer({ archetypes, tickRateHz: 30, interestRadiusM: 0, resumeS: 20 });
const bodies = new Map();

game.on('clientJoined', ({ client }) => {
  const angle = client * 2.4; // each player starts elsewhere
  const body = game.spawn('player', { position: [5 * Math.cos(angle), 0, 5 * Math.sin(angle)] }, { name: `Player ${client}` });
  game.setField(body, 'hue', (client * 137) % 360);
  game.give(body, client); // the page moves it, and the server checks its speed
  bodies.set(client, body);
  console.log(`player ${client} joined, ${bodies.size} are here`);
});
game.on('clientBack', ({ client }) => game.give(bodies.get(client), client)); // the network has changed
game.on('clientLeft', ({ client, reason }) => {
  game.despawn(bodies.get(client));
  bodies.delete(client);
  console.log(`player ${client} left: ${reason}`);
});
game.on('message', ({ client, message }) => {
  game.broadcast(`Player ${client}: ${message.text.slice(0, 200)}`); // chat
});

http.listen(Number(process.env.PORT ?? 8080), async () => {
  await game.listen({ server: http });
  game.start(() => {}); // here the server would move what belongs to nobody
  console.log(`http://localhost:${http.address().port} - open it in two tabs`);
});
process.once('SIGINT', async () => {
  await game.close();
  http.closeAllConnections();
  http.close();
});
