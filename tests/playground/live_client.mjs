// SPDX-License-Identifier: MIT
// node --experimental-websocket live_client.mjs ADDRESS SECONDS SHOWN.csv [MODE]
// Joins a server as the page does, and writes what it shows, as reckoner-client --rendered does. For
// reckoner-harness measure. Prints the state of the client at the end.
import { writeFileSync } from 'node:fs';
import { liveClient, monotonic_s } from './live_node.mjs';

const [address, seconds, path, mode = 'present'] = process.argv.slice(2);
if (!path) {
  console.error('usage: live_client.mjs ADDRESS SECONDS SHOWN.csv [MODE]');
  process.exit(2);
}
const { client, entityNumbers } = await liveClient();
const origin = address.replace(/^ws/, 'http').replace(/\/$/, ''); // a page of the server
client.connect(address, new Uint8Array(), mode, (to) => new WebSocket(to, { protocols: ['reckoner'], headers: { origin } }));
const rows = ['frame_time_s,id,x,y,z,qw,qx,qy,qz,shown_time_s,monotonic_s'];
const started_s = monotonic_s();
const frame_s = 1 / 60;
let next_s = started_s;
const ended = await new Promise((end) => {
  const frame = () => {
    const now_s = monotonic_s();
    if (now_s < next_s) return void setTimeout(frame, Math.max(0, Math.floor((next_s - now_s) * 1000 - 0.5)));
    next_s = Math.max(next_s + frame_s, now_s - frame_s); // a late program drops frames
    const at_s = monotonic_s();
    const entities = client.shown(at_s);
    const state = client.state();
    if (state.server_time_s !== null) {
      for (let e = 0; e < entities.length; e += entityNumbers) {
        const pose = [...entities.subarray(e + 1, e + 8)].map((v) => v.toFixed(6)).join();
        rows.push(`${state.server_time_s.toFixed(6)},${client.name(entities[e])},${pose},${entities[e + 15].toFixed(6)},${at_s.toFixed(6)}`);
      }
    }
    if (state.status === 'disconnected' || state.status === 'refused' || at_s - started_s > Number(seconds)) return end(state);
    setTimeout(frame, 0);
  };
  frame();
});
writeFileSync(path, rows.join('\n') + '\n');
client.leave();
console.log(JSON.stringify({ ...ended, events: undefined, status: ended.status }));
process.exit(rows.length > 1 ? 0 : 1);
