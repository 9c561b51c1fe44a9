// SPDX-License-Identifier: MIT
/** Calls the listeners of typed events. */
export class Emitter<Events> {
  private readonly listeners = new Map<keyof Events, Set<(event: any) => void>>();

  /** Adds a listener. Returns a function that removes it. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    let all = this.listeners.get(name);
    if (!all) this.listeners.set(name, (all = new Set()));
    all.add(listener);
    return () => void all.delete(listener);
  }
  /** A promise of the next event. */
  next<Name extends keyof Events>(name: Name): Promise<Events[Name]> {
    return new Promise((resolve) => {
      const remove = this.on(name, (event) => {
        remove();
        resolve(event);
      });
    });
  }
  protected emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of this.listeners.get(name) ?? []) {
      try {
        listener(event);
      } catch (error) {
        // A fault of one listener must not keep events from the others.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
