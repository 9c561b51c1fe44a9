// SPDX-License-Identifier: MIT
// Why did it jump? Plays a recorded session, and shows the explanation of each of its largest steps.
import { clearedPen, element, make, options, short } from './dom.ts';
import type { Engine } from './engine.ts';
import { packetFloats, type ExplainedCorrection, type ExplainedStep, type SessionResult, type SessionShape } from './module.ts';
import { colourOf, truthColour, variable } from './palette.ts';
import { Run } from './run.ts';
import { Stage } from './scene.ts';

const magic = 'RECKLOG';
const decisionHead = 'kind,time_s,client,entity,generation';
const worst = 20;
const reach_s = 2; // half of the time that the timeline shows

type Explained = ExplainedStep | ExplainedCorrection;
const isStep = (item: Explained): item is ExplainedStep => 'velocity_step_mps' in item;

const startOf = async (file: Blob, bytes: number) => new TextDecoder('latin1').decode(await file.slice(0, bytes).arrayBuffer());
export const isSession = async (file: Blob) => (await startOf(file, magic.length)) === magic;

/** The run that the view of the playground can draw: the motion as the truth, and what was shown as a method. */
function runOf(shape: SessionShape, result: SessionResult): Run {
  const { arrived, lost } = shape.datagrams;
  const packets = new Float32Array((arrived.length + lost.length) * packetFloats);
  [...arrived, ...lost.map((sent) => [sent, NaN] as [number, number])].forEach(([sent, at], i) => packets.set([sent, at, 100, 1, 1], i * packetFloats));
  return new Run({
    figures: '{"runs":[]}', truth: result.motion, tracks: [result.shown], packets: [packets], parts: [new Float32Array()], took_ms: 0,
    shape: {
      source: 'session', network: '', start_s: 0, frame_rate_hz: shape.frame_rate_hz, entities: shape.names.length,
      frames: shape.frames, names: shape.names, methods: ['reckoner'], kinds: [],
    },
  });
}

export class Explainer {
  private session: { name: string; recording: Uint8Array } | null = null;
  private decisions: { name: string; text: string } | null = null;
  private shape: SessionShape | null = null;
  private result: SessionResult | null = null;
  private run: Run | null = null;
  private stage: Stage | null = null;
  private entity = 0;
  private time_s = 0;
  private playing = false;
  private listed: Explained[] = []; // the largest steps, and then the largest corrections of predicted entities
  private chosen: Explained | null = null;

  constructor(private readonly engine: Engine, private readonly fail: (message: string | null) => void) {
    element('explain-play').addEventListener('click', () => this.setPlaying(!this.playing));
    const scrub = element<HTMLInputElement>('explain-scrub');
    scrub.addEventListener('input', () => this.seek(Number(scrub.value)));
    const select = element<HTMLSelectElement>('explain-entity');
    select.addEventListener('change', () => this.choose(Number(select.value)));
    const timeline = element<HTMLCanvasElement>('timeline');
    timeline.addEventListener('click', (event) => this.click((event.offsetX / timeline.clientWidth - 0.5) * 2 * reach_s));
    timeline.addEventListener('keydown', (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!move || !this.shape) return;
      event.preventDefault();
      event.stopPropagation();
      this.setPlaying(false);
      this.seek(this.time_s + (move * (event.shiftKey ? 1 : 1 / this.shape.frame_rate_hz)));
    });
  }

  async open(file: File): Promise<void> {
    this.session = { name: file.name, recording: new Uint8Array(await file.arrayBuffer()) };
    await this.compute();
  }

  /** Takes a file of reckoner-server --decisions. Returns false for other files. */
  async addDecisions(file: File): Promise<boolean> {
    if (!(await startOf(file, decisionHead.length)).startsWith(decisionHead)) return false;
    this.decisions = { name: file.name, text: await file.text() };
    if (this.session) await this.compute();
    else this.about(`${file.name} is open. Drop the recorded session now.`);
    return true;
  }

  private about(text: string): void {
    element('explain-about').textContent = text;
  }

  private async compute(): Promise<void> {
    const { name, recording } = this.session!;
    const result = await this.engine.ask<'session'>({ kind: 'session', name, recording, decisions: this.decisions, worst });
    this.result = result;
    this.shape = JSON.parse(result.text) as SessionShape;
    this.run = runOf(this.shape, result);
    const { explained } = this.shape;
    this.about(`${name}: ${explained.seconds.toFixed(1)} s in ${explained.mode} mode, recorded by Reckoner ${explained.version}, ${this.shape.names.length} entities.`
      + (this.decisions ? ` The server’s decisions are those of ${this.decisions.name}.` : '')
      + (explained.truncated ? ' The file is truncated; its end is missing.' : '')
      + (this.shape.cut ? ' It is too long for this page; only its beginning plays.' : ''));
    if (explained.damage) this.fail(explained.damage);
    element('explain-content').hidden = false;
    element<HTMLInputElement>('explain-scrub').max = String(this.run.seconds);
    options(element('explain-entity'), this.shape.names.map((each, i): [string, string] => [String(i), each]), '0');
    const corrections = [...explained.corrections].sort((a, b) => b.error_m - a.error_m).slice(0, worst);
    this.listed = [...explained.steps, ...corrections];
    this.showList(this.listed);
    this.stage?.show(this.run);
    this.entity = 0;
    const [first] = this.listed;
    if (first) this.explain(first);
    else {
      this.seek(0);
      element('explanation').textContent = 'No step is large enough to be seen.';
    }
  }

  private indexOf(step: Explained): number {
    return Math.max(0, this.shape!.entities.findIndex((e) => e.entity === step.entity && e.generation === step.generation));
  }

  private showList(items: Explained[]): void {
    element('steps').replaceChildren(...items.map((step) => {
      const button = make('button', { type: 'button' },
        make('strong', { textContent: `${step.at_s.toFixed(2)} s, ${step.name || `entity ${step.entity}`}` }),
        make('span', { className: 'cause', textContent: `${step.cause} (${step.known ? 'known' : 'inferred'})` }),
        make('span', { textContent: isStep(step) ? `${short(step.velocity_step_mps)} m/s` : `corrected, ${short(step.error_m)} m` }));
      button.addEventListener('click', () => this.explain(step));
      return make('li', {}, button);
    }));
  }

  /** Shows a step or a correction and its explanation. */
  private explain(step: Explained): void {
    this.chosen = step;
    this.choose(this.indexOf(step));
    this.setPlaying(false);
    this.seek(step.at_s);
    element('explanation').replaceChildren(
      make('strong', { textContent: `${step.cause} (${step.known ? 'known' : 'inferred'}): ` }),
      isStep(step) ? `The drawn velocity changed by ${step.velocity_step_mps.toFixed(2)} m/s in picture ${step.frame}. ${step.sentence}` : `Corrected in tick ${step.tick}. ${step.sentence}`);
    const index = this.listed.indexOf(step);
    [...element('steps').children].forEach((item, i) => item.firstElementChild!.setAttribute('aria-pressed', String(i === index)));
  }

  private choose(entity: number): void {
    this.entity = entity;
    element<HTMLSelectElement>('explain-entity').value = String(entity);
    if (this.stage) this.stage.followed = entity;
  }

  private setPlaying(playing: boolean): void {
    this.playing = playing;
    element('explain-play').textContent = playing ? 'Pause' : 'Play';
  }

  private seek(time_s: number): void {
    this.time_s = Math.min(Math.max(0, time_s), this.run?.seconds ?? 0);
  }

  /** A click beside the middle of the timeline: chooses a step near it, or goes there. */
  private click(offset_s: number): void {
    if (!this.shape) return;
    const at_s = this.time_s + offset_s;
    const near = this.listed
      .filter((step) => this.indexOf(step) === this.entity && Math.abs(step.at_s - at_s) < 0.12)
      .sort((a, b) => Math.abs(a.at_s - at_s) - Math.abs(b.at_s - at_s))[0];
    if (near) this.explain(near);
    else this.seek(at_s);
  }

  frame(passed_s: number): void {
    const { run } = this;
    if (!run) return;
    if (!this.stage) {
      this.stage = new Stage(element<HTMLCanvasElement>('explain-scene'));
      this.stage.show(run);
      this.stage.followed = this.entity;
    }
    if (this.playing) this.time_s += passed_s * Number(element<HTMLSelectElement>('explain-speed').value);
    if (this.time_s > run.seconds) this.time_s = 0;
    element<HTMLInputElement>('explain-scrub').value = String(this.time_s);
    element('explain-time').textContent = `${this.time_s.toFixed(2)} s`;
    this.stage.draw(this.time_s, { shows: () => true });
    this.drawTimeline();
  }

  private drawTimeline(): void {
    const shape = this.shape!;
    const { blend, clock } = this.result!;
    const canvas = element<HTMLCanvasElement>('timeline');
    const pen = clearedPen(canvas);
    if (!pen) return;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    pen.font = '11px system-ui, "Liberation Sans", sans-serif';
    pen.textBaseline = 'middle';
    const from_s = this.time_s - reach_s;
    const x = (time_s: number) => ((time_s - from_s) / (2 * reach_s)) * width;
    const visible = (time_s: number) => time_s >= from_s && time_s <= from_s + 2 * reach_s;
    const rows = { steps: 12, updates: 36, lost: 60, blend: [74, height - 44] as const, clock: [height - 38, height - 8] as const };
    const tick = (time_s: number, y: number, half: number, colour: string, wide = 2) => {
      pen.fillStyle = colour;
      pen.fillRect(x(time_s) - wide / 2, y - half, wide, 2 * half);
    };
    const soft = variable('--soft');
    const ours = colourOf('reckoner');
    const bad = variable('--bad');
    for (let s = Math.ceil(from_s); s <= from_s + 2 * reach_s; ++s) tick(s, height / 2, height / 2, variable('--line'), 1);
    for (const [at_s] of shape.entities[this.entity]?.motions ?? []) if (visible(at_s)) tick(at_s, rows.updates, 8, ours);
    for (const [, at_s] of shape.datagrams.arrived) if (visible(at_s)) tick(at_s, rows.lost, 3, soft, 1);
    for (const at_s of shape.datagrams.lost) if (visible(at_s)) tick(at_s, rows.lost, 8, bad);
    const line = (value: (frame: number) => number, [top, bottom]: readonly [number, number], colour: string, least: number): number => {
      const first = Math.max(0, Math.floor(from_s * shape.frame_rate_hz));
      const last = Math.min(shape.frames - 1, Math.ceil((from_s + 2 * reach_s) * shape.frame_rate_hz));
      let low = Infinity;
      let high = -Infinity;
      for (let f = first; f <= last; ++f) {
        const v = value(f);
        if (Number.isNaN(v)) continue;
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
      const span = Math.max(least, high - low);
      pen.strokeStyle = colour;
      pen.lineWidth = 1.5;
      pen.beginPath();
      let pen_down = false;
      for (let f = first; f <= last; ++f) {
        const v = value(f);
        if (Number.isNaN(v)) {
          pen_down = false;
          continue;
        }
        const y = bottom - ((v - low) / span) * (bottom - top);
        if (pen_down) pen.lineTo(x(f / shape.frame_rate_hz), y);
        else pen.moveTo(x(f / shape.frame_rate_hz), y);
        pen_down = true;
      }
      pen.stroke();
      return high - low;
    };
    const entities = shape.names.length;
    const blended = line((f) => blend[f * entities + this.entity]!, rows.blend, ours, 0.02);
    const moved = line((f) => clock[2 * f]!, rows.clock, truthColour(), 0.002);
    for (const step of this.listed) {
      if (!visible(step.at_s) || this.indexOf(step) !== this.entity) continue;
      pen.fillStyle = step === this.chosen ? bad : soft;
      pen.textAlign = 'center';
      pen.fillText(isStep(step) ? '▼' : '◆', x(step.at_s), rows.steps);
    }
    tick(this.time_s, height / 2, height / 2, variable('--accent'), 1);
    pen.textAlign = 'left';
    const label = (text: string, y: number) => {
      pen.fillStyle = variable('--card');
      pen.fillRect(4, y - 8, pen.measureText(text).width + 8, 16);
      pen.fillStyle = soft;
      pen.fillText(text, 8, y);
    };
    label('updates', rows.updates);
    label('datagrams, lost ones red', rows.lost);
    label(Number.isFinite(blended) ? `blend, up to ${short(Math.max(0, blended))} m` : 'blend: not shown', rows.blend[0] + 8);
    label(`clock, ${short(Math.max(0, moved) * 1000)} ms`, rows.clock[0] + 6);
  }

  /** For the tests. */
  get state() {
    return { steps: this.shape?.explained.steps ?? [], time_s: this.time_s, entity: this.entity, frames: this.shape?.frames ?? 0, chosen: this.chosen };
  }
}
