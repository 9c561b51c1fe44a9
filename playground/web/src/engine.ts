// SPDX-License-Identifier: MIT
// The page's end of a worker.
import type { Answer, Answers, Request } from './protocol.ts';

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

export class Engine {
  private readonly worker = new Worker(new URL('worker.js', document.baseURI), { type: 'module' });
  private readonly waiting = new Map<number, { good(value: unknown): void; bad(error: Error): void }>();
  private next = 1;

  constructor() {
    this.worker.addEventListener('message', (event: MessageEvent<Answer>) => {
      const caller = this.waiting.get(event.data.id);
      this.waiting.delete(event.data.id);
      if ('error' in event.data) caller?.bad(new Error(event.data.error));
      else caller?.good(event.data.value);
    });
    this.worker.addEventListener('error', (event) => {
      for (const caller of this.waiting.values()) caller.bad(new Error(event.message || 'the worker failed'));
      this.waiting.clear();
    });
  }

  ask<K extends keyof Answers>(request: Without<Extract<Request, { kind: K }>, 'id'>): Promise<Answers[K]> {
    const id = this.next++;
    return new Promise((good, bad) => {
      this.waiting.set(id, { good: good as (value: unknown) => void, bad });
      this.worker.postMessage({ ...request, id });
    });
  }

  stop(): void {
    this.worker.terminate();
  }
}
