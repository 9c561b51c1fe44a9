// SPDX-License-Identifier: MIT
// node same_bits.mjs MODULE DIGEST HARNESS [SHARED]: runs many settings natively and in the module under Node.js.
// The bits of every frame, every datagram and the text of the figures must be equal, for every method. SHARED is the
// folder with the recorded traces; without it, only built-in scenarios are compared.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { webcrypto as crypto } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const [modulePath, digestProgram, harness, shared = ''] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'reckoner-'));

const missing = () => 52;
const { instance } = await WebAssembly.instantiate(readFileSync(modulePath), {
  wasi_snapshot_preview1: new Proxy({
    environ_sizes_get(count, bytes) {
      new Uint32Array(instance.exports.memory.buffer)[count / 4] = 0;
      new Uint32Array(instance.exports.memory.buffer)[bytes / 4] = 0;
      return 0;
    },
    environ_get: () => 0,
    fd_prestat_get: () => 8,  // there are no files
    random_get(address, length) {
      crypto.getRandomValues(new Uint8Array(instance.exports.memory.buffer, address, length));
      return 0;
    },
    proc_exit(code) {
      throw new Error(`the module ended with code ${code}`);
    },
  }, { get: (all, name) => all[name] ?? missing }),
  page: new Proxy({}, { get: () => () => 0 }),
});
const api = instance.exports;
api._initialize();

function call(name, texts, ...numbers) {
  const values = texts.flatMap((text) => {
    const bytes = new TextEncoder().encode(text);
    const address = api.pg_alloc(Math.max(1, bytes.length));
    new Uint8Array(api.memory.buffer, address, bytes.length).set(bytes);
    return [address, bytes.length];
  });
  const good = api[name](...values, ...numbers);
  for (let i = 0; i < values.length; i += 2) api.pg_free(values[i]);
  const text = new TextDecoder().decode(new Uint8Array(api.memory.buffer, api.pg_text(), api.pg_text_bytes()));
  assert.ok(good, `${name}: ${text}`);
  return text;
}

const traces = ['shooter_quake_duel_povdmm4', 'rocketcar_rl_idle', 'racing_f1_2019_a', 'flight_euroc_v102', 'vr_head_spacepirate_a']
  .map((name) => join(shared, 'traces', `${name}.csv`)).filter((path) => shared && existsSync(path));
const sources = [
  ...['crowd', 'duel', 'football', 'hop', 'orbit', 'patrol', 'ship', 'traffic'].map((scenario) => ({ scenario })),
  ...traces.map((trace) => ({ trace, entity: 'busiest' })),
];
const networks = ['broadband', 'wifi', 'intercity', 'stress'];
const ways = [{ updates_per_second: 10 }, { threshold_m: 0.05 }, { updates_per_second: 10, mode: 'adaptive' }, { updates_per_second: 20, mode: 'delayed:150' }];

let runs = 0;
function compareDigests(settings) {
  const { trace, ...rest } = settings;
  const text = JSON.stringify(trace ? { ...rest, trace: basename(trace) } : settings);
  if (trace) call('pg_open', [basename(trace), readFileSync(trace, 'utf8')]);
  const native = execFileSync(digestProgram, [text, ...(trace ? [trace] : [])], { encoding: 'utf8' });
  assert.equal(call('pg_digest', [text]), native, `other bits with ${text}`);
  runs += native.trim().split('\n').length;
}

// The figures of the page, and those of the command that the page offers for copying.
function compareFigures(settings) {
  const { trace, ...rest } = settings;
  if (trace) call('pg_open', [basename(trace), readFileSync(trace, 'utf8')]);
  const text = JSON.stringify(trace ? { ...rest, trace: basename(trace) } : settings);
  const words = call('pg_command', [text]).split(' ').slice(1);
  if (trace) words[words.indexOf(basename(trace))] = trace;
  const json = join(scratch, 'figures.json');
  words[words.indexOf('figures.json')] = json;
  execFileSync(harness, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  assert.equal(call('pg_run', [text], 1), readFileSync(json, 'utf8'), `other figures with ${text}`);
  runs += 10;
}

try {
  sources.forEach((source, i) => {
    for (let k = 0; k < 2; ++k) {
      const network = networks[(i + 2 * k) % networks.length];
      // Updates of `patrol` are so rare that a buffer of them shows nothing for 12 s.
      const seconds = source.scenario === 'patrol' ? 20 : 10;
      compareDigests({ ...source, seconds, network, seed: i + 1, ...ways[(i + k) % ways.length] });
    }
  });
  for (const [i, source] of (traces.length > 0 ? sources.slice(-traces.length) : sources.slice(0, 5)).entries()) {
    for (const network of networks) compareFigures({ ...source, seconds: 10, network, seed: 1, ...ways[i % ways.length] });
  }
  console.log(`${runs} runs: equal bits and figures in the module and in the native build`);
} finally {
  rmSync(scratch, { recursive: true });
}
