// SPDX-License-Identifier: MIT
// Packets can be chosen, with the pointer or the keyboard. A table says what one contains, by entity and kind.
import { element, make, short } from './dom.ts';
import { flight, placeOf, type Lane } from './lane.ts';
import { plainName } from './methods.ts';
import { packetFloats, partFloats } from './module.ts';
import type { Run } from './run.ts';

/** What the kinds of the module mean (server/include/reckoner/server/traffic.hpp). */
const words: Record<string, string> = {
  motion: 'motion', spawn: 'spawn: name, kind, first motion', field: 'changed fields', end: 'end of an entity', message: 'message',
  reliable_message: 'reliable messages', header: 'head: sequence, time, acknowledgements', prediction: 'prediction',
};
const reach_px = 14; // how far from a packet a click may be

export interface LanePart {
  lane: Lane;
  method: number; // -1: not computed
}

interface Chosen {
  side: number; // index of the pane
  packet: number; // index in the packets of the method
}

export class Packets {
  private chosen: Chosen | null = null;
  private parts: LanePart[] = [];
  private run: Run | null = null;
  private time_s = 0;

  /** `pause` stops the playback, so that the packet stays where it is. `changed` draws again. */
  constructor(private readonly canvas: HTMLCanvasElement, private readonly pause: () => void, private readonly changed: () => void) {
    canvas.addEventListener('click', (event) => this.click(event.offsetX, event.offsetY));
    canvas.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      event.stopPropagation(); // the arrow keys would move the time
      this.next(step);
    });
    this.describe();
  }

  /** Forgets the chosen packet. */
  clear(): void {
    this.choose(null);
  }

  /** What is drawn now. */
  update(run: Run, parts: LanePart[], time_s: number): void {
    if (run !== this.run) this.choose(null);
    this.run = run;
    this.parts = parts;
    this.time_s = time_s;
  }

  /** The number of the chosen packet of a pane, or -1. */
  chosenOf(side: number): number {
    return this.chosen?.side === side ? this.chosen.packet : -1;
  }

  /** The packets in flight, from left to right. */
  private inFlight(): (Chosen & { x: number; y: number })[] {
    const { run } = this;
    if (!run) return [];
    const found: (Chosen & { x: number; y: number })[] = [];
    this.parts.forEach(({ lane, method }, side) => {
      if (method < 0) return;
      const packets = run.packets(method);
      for (let packet = 0; packet < packets.length; packet += packetFloats) {
        const flying = flight(packets, packet, this.time_s);
        if (!flying) continue;
        const [x, y] = placeOf(lane, this.canvas.clientHeight, packets[packet + 3] === 1, flying.share);
        found.push({ side, packet, x, y });
      }
    });
    return found.sort((a, b) => a.x - b.x);
  }

  private click(x: number, y: number): void {
    const near = this.inFlight().map((one) => ({ one, far: Math.hypot(one.x - x, one.y - y) })).sort((a, b) => a.far - b.far)[0];
    this.choose(near && near.far <= reach_px ? near.one : null);
  }

  private next(step: number): void {
    this.pause();
    const all = this.inFlight();
    if (all.length === 0) return this.choose(null);
    const at = all.findIndex((one) => one.side === this.chosen?.side && one.packet === this.chosen.packet);
    this.choose(all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length]!);
  }

  private choose(chosen: Chosen | null): void {
    if (chosen) this.pause();
    this.chosen = chosen && { side: chosen.side, packet: chosen.packet };
    this.describe();
    this.changed();
  }

  private describe(): void {
    const box = element('packet');
    const { run, chosen } = this;
    const method = chosen ? this.parts[chosen.side]?.method ?? -1 : -1;
    if (!run || !chosen || method < 0) {
      box.replaceChildren(make('p', { className: 'hint', textContent: 'Dots are packets on their way. Choose one, with a click or with the arrow keys, to see what it contains.' }));
      return;
    }
    const packets = run.packets(method);
    const [sent, arrived, wire, down, state] = packets.subarray(chosen.packet, chosen.packet + packetFloats) as unknown as [number, number, number, number, number];
    const way = down === 1 ? 'from the server to the client' : 'from the client to the server';
    const fate = Number.isNaN(arrived) ? 'lost on the way' : `${short(1000 * (arrived - sent))} ms on the way`;
    const title = `Packet of ${plainName(run.methods[method]!)} ${way}: ${wire} bytes, sent at ${sent.toFixed(2)} s, ${fate}.`;
    const rows = down === 1 && state === 1 ? this.rowsOf(run, method, sent) : [];
    if (rows.length === 0) {
      const content = down === 0 ? 'It carries acknowledgements and the client’s clock.'
        : state === 1 ? 'Its contents are not recorded: it was sent outside of a tick, or the run is very long.' : 'It belongs to the connection, and carries no motion.';
      box.replaceChildren(make('p', { textContent: `${title} ${content}` }));
      return;
    }
    // A tick may send several packets; their contents are counted together.
    let together = 0;
    let bytes = 0;
    for (let i = 0; i < packets.length; i += packetFloats) {
      if (packets[i] !== sent || packets[i + 3] !== 1 || packets[i + 4] !== 1) continue;
      ++together;
      bytes += packets[i + 2]!;
    }
    const payload = rows.reduce((sum, row) => sum + row.bits, 0) / 8;
    const rest = bytes - payload;
    const table = make('table', { className: 'numbers' },
      make('thead', {}, make('tr', {}, ...['Entity', 'Kind', 'Bytes'].map((text) => make('th', { scope: 'col', textContent: text })))),
      make('tbody', {}, ...[...rows.map((row) => [row.entity, row.kind, short(row.bits / 8)]), ['', together > 1 ? 'IP, UDP, connection; copies' : 'IP, UDP, connection', short(rest)]]
        .map((cells) => make('tr', {}, ...cells.map((text) => make('td', { textContent: text }))))));
    box.replaceChildren(
      make('p', { textContent: together > 1 ? `${title} This tick sent ${together} packets, copies included; together:` : title }), table);
  }

  private rowsOf(run: Run, method: number, sent: number): { entity: string; kind: string; bits: number }[] {
    const parts = run.parts(method);
    const rows: { entity: string; kind: string; bits: number }[] = [];
    for (let i = 0; i < parts.length; i += partFloats) {
      if (parts[i] !== sent) continue;
      const [, entity, kind, count, bits] = parts.subarray(i, i + partFloats) as unknown as [number, number, number, number, number];
      const name = run.shape.kinds[kind] ?? '';
      rows.push({ entity: entity < 0 ? '' : run.shape.names[entity] ?? '', kind: `${count > 1 ? `${count} × ` : ''}${words[name] ?? name}`, bits });
    }
    return rows.sort((a, b) => b.bits - a.bits);
  }
}
