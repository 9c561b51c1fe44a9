// SPDX-License-Identifier: MIT
// Runs the module outside of the page's thread, so that the page stays smooth during a run.
import { Module, type SessionResult } from './module.ts';
import type { Answer, Request, RunResult } from './protocol.ts';

const module = Module.load(fetch(new URL('playground.wasm', self.location.href)));

function run(it: Module, settings: string): RunResult {
  const before = performance.now();
  const figures = it.run(settings, true);
  const took_ms = performance.now() - before;
  const shape = it.shape();
  return {
    figures,
    shape,
    truth: it.track(-1, shape),
    tracks: shape.methods.map((_, i) => it.track(i, shape)),
    packets: shape.methods.map((_, i) => it.packets(i)),
    parts: shape.methods.map((_, i) => it.parts(i)),
    took_ms,
  };
}

function answer(it: Module, request: Request): unknown {
  switch (request.kind) {
    case 'catalog':
      return it.catalog();
    case 'open':
      return it.open(request.name, request.text);
    case 'run':
      return run(it, request.settings);
    case 'session':
      return it.session(request.name, request.recording, request.decisions, request.worst);
    case 'figures':
      return it.run(request.settings, false);
    case 'command':
      return it.command(request.settings);
    case 'cpp':
      return it.cpp(request.settings);
  }
}

self.addEventListener('message', async (event: MessageEvent<Request>) => {
  const { id } = event.data;
  let reply: Answer;
  const moved: Transferable[] = [];
  try {
    const value = answer(await module, event.data);
    if (event.data.kind === 'run') {
      const { truth, tracks, packets, parts } = value as RunResult;
      for (const array of [truth, ...tracks, ...packets, ...parts]) moved.push(array.buffer);
    }
    if (event.data.kind === 'session') {
      const { shown, motion, blend, clock } = value as SessionResult;
      for (const array of [shown, motion, blend, clock]) moved.push(array.buffer);
    }
    reply = { id, value };
  } catch (error) {
    reply = { id, error: error instanceof Error ? error.message : String(error) };
  }
  (self as unknown as Worker).postMessage(reply, moved);
});
