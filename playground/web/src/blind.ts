// SPDX-License-Identifier: MIT
// The blind comparison: Reckoner against one other method in each round. Which is smoother? The names appear at the end.
import { Vector3 } from 'three';
import { columns } from './figures.ts';
import { element, make, short } from './dom.ts';
import { fullName, ours, plainName } from './methods.ts';
import { moments, type Moment } from './moments.ts';
import { poseFloats } from './module.ts';
import { variable } from './palette.ts';
import type { Run } from './run.ts';
import type { Stage } from './scene.ts';

const rounds = 5;
const before_s = 1.5; // what a round shows before and after the turn
const after_s = 2.5;
const apart_s = 4; // of the turns of one entity

interface Round {
  other: string;
  oursIsA: boolean;
  moment: Moment;
}

/** What a player preferred in a round: Reckoner, the other, or neither. */
type Answer = Round & { chosen: string };

/** The result in one sentence. A round without a difference is not a choice, so chance has no part in it. */
export function verdict(answers: { chosen: string }[]): string {
  const good = answers.filter((one) => one.chosen === ours).length;
  const none = answers.filter((one) => one.chosen === '').length;
  const chance = (answers.length - none) / 2;
  const equal = none > 0 ? ` and saw no difference in ${none}` : '';
  return `You preferred Reckoner in ${good} of ${answers.length} rounds${equal}; chance would be ${chance}.`;
}

function shuffled<T>(all: T[], random: () => number): T[] {
  const out = [...all];
  for (let i = out.length - 1; i > 0; --i) {
    const k = Math.floor(random() * (i + 1));
    [out[i], out[k]] = [out[k]!, out[i]!];
  }
  return out;
}

export class BlindTest {
  private run: Run | null = null;
  private all: string[] = [];
  private others: string[] = []; // still to come
  private turns: Moment[] = [];
  private round: Round | null = null;
  private readonly answers: Answer[] = [];
  private clip_s = 0; // time since the beginning of the clip
  private drawn = ''; // what the view shows while it is paused
  private playing = !matchMedia('(prefers-reduced-motion: reduce)').matches;

  /** `want` computes a method for the present run. */
  constructor(private readonly want: (method: string) => void, private readonly random: () => number = Math.random) {
    element('blind-a').addEventListener('click', () => this.answer(true));
    element('blind-b').addEventListener('click', () => this.answer(false));
    element('blind-none').addEventListener('click', () => this.answer(null));
    element('blind-play').addEventListener('click', () => this.toggle());
    this.showPlaying();
  }

  toggle(): void {
    this.playing = !this.playing;
    this.showPlaying();
  }

  private showPlaying(): void {
    element('blind-play').textContent = this.playing ? 'Pause' : 'Play';
  }

  /** A new run, or the same one with more methods. */
  show(run: Run, all: string[]): void {
    this.drawn = '';
    this.all = all;
    if (run !== this.run) {
      this.run = run;
      this.restart();
    }
  }

  private restart(): void {
    const run = this.run!;
    this.answers.length = 0;
    this.round = null;
    element('blind-result').replaceChildren();
    this.others = shuffled(this.all.filter((method) => method !== ours), this.random);
    const found = moments(run, -1, apart_s);
    this.turns = shuffled(found.slice(0, Math.max(rounds, Math.ceil(found.length / 2))), this.random);
    this.clip_s = 0;
  }

  /** Called while the test is open: begins the next round as soon as its method has been computed. */
  private prepare(run: Run): void {
    if (this.round || this.answers.length >= rounds) return;
    const status = element('blind-round');
    while (this.others.length > 0 && run.failed.has(this.others[0]!)) this.others.shift();
    const [other] = this.others;
    const nothing = run.failed.has(ours) ? 'Reckoner has no figures over this network.'
      : this.turns.length === 0 ? 'Nothing moves in this part of the motion.'
      : other === undefined ? 'No other method showed enough over this network.' : '';
    this.enable(false);
    if (nothing !== '' || !other) {
      status.textContent = nothing;
      return;
    }
    if (!run.has(ours) || !run.has(other)) {
      status.textContent = 'Computing the next pair…';
      this.want(other);
      return;
    }
    this.others.shift();
    this.round = { other, oursIsA: this.random() < 0.5, moment: this.turns[this.answers.length % this.turns.length]! };
    this.clip_s = 0;
    status.textContent = `Round ${this.answers.length + 1} of ${rounds}`;
    this.enable(true);
    if (this.others[0] && this.answers.length + 1 < rounds) this.want(this.others[0]);
  }

  private enable(on: boolean): void {
    for (const id of ['blind-a', 'blind-b', 'blind-none']) element<HTMLButtonElement>(id).disabled = !on;
  }

  private answer(choseA: boolean | null): void {
    const { round } = this;
    if (!round) return;
    this.answers.push({ ...round, chosen: choseA === null ? '' : choseA === round.oursIsA ? ours : round.other });
    this.round = null;
    if (this.answers.length >= rounds) this.finish();
    else if (this.run) this.prepare(this.run);
  }

  private finish(): void {
    this.enable(false);
    element('blind-round').textContent = 'The test is over.';
    const jerk = columns.find((column) => column.name === 'velocity_step_mps.p99')!;
    const cell = (method: string) => {
      const figures = this.run!.figuresOf(method);
      return `${fullName(method)}, jerk ${short((figures && jerk.of(figures)) ?? NaN)} m/s`;
    };
    const again = make('button', { type: 'button', textContent: 'Play again' });
    again.addEventListener('click', () => this.restart());
    const titles = ['Round', 'A', 'B', 'You preferred'];
    element('blind-result').replaceChildren(
      make('p', { className: 'verdict', textContent: verdict(this.answers) }),
      make('table', {}, make('thead', {}, make('tr', {}, ...titles.map((t) => make('th', { scope: 'col', textContent: t })))),
        make('tbody', {}, ...this.answers.map(({ other, oursIsA, chosen }, i) => make('tr', {}, make('td', { textContent: String(i + 1) }),
          make('td', { textContent: cell(oursIsA ? ours : other) }), make('td', { textContent: cell(oursIsA ? other : ours) }),
          make('td', { textContent: chosen === '' ? 'no difference' : plainName(chosen) }))))),
      again);
    again.focus();
  }

  /** Draws the clip of the round with a camera that stands still, so that the eye sees the motion and nothing else. */
  draw(stage: Stage, passed_s: number): void {
    const { run } = this;
    if (!run) return;
    this.prepare(run);
    if (!this.round) {
      stage.fixed ??= { at: new Vector3(), reach_m: 1 };
      stage.draw(0, { shows: () => false }, { shows: () => false });
      return;
    }
    const { moment, other, oursIsA } = this.round;
    const from_s = Math.max(0, moment.time_s - before_s);
    const until_s = Math.min(run.seconds, moment.time_s + after_s);
    const picture = [this.answers.length, this.clip_s, stage.canvas.clientWidth, stage.canvas.clientHeight].join();
    if (!this.playing && picture === this.drawn) return; // it would be the same
    this.drawn = picture;
    if (this.playing) this.clip_s = (this.clip_s + passed_s) % Math.max(0.1, until_s - from_s);
    stage.fixed = frameOf(run, moment.entity, from_s, until_s, stage.size_m);
    stage.trails = false;
    const index = (name: string) => run.methods.indexOf(name);
    const pair = oursIsA ? [index(ours), index(other)] : [index(other), index(ours)];
    const colour = () => variable('--accent');
    stage.draw(from_s + this.clip_s, ...pair.map((shown) => ({ shows: (method: number) => method === shown, colour, entity: moment.entity })));
  }

  /** For the tests. */
  get state() {
    return {
      round: this.answers.length + 1, pair: this.round ? (this.round.oursIsA ? [ours, this.round.other] : [this.round.other, ours]) : [],
      moment: this.round?.moment, clip_s: this.clip_s,
    };
  }
}

/** Where a camera must stand to see the whole clip. */
function frameOf(run: Run, entity: number, from_s: number, until_s: number, size_m: number): { at: Vector3; reach_m: number } {
  const pose = new Float64Array(poseFloats);
  const low = new Vector3(Infinity, Infinity, Infinity);
  const high = new Vector3(-Infinity, -Infinity, -Infinity);
  for (let time_s = from_s; time_s <= until_s; time_s += 0.1) {
    if (!run.pose(-1, entity, time_s, pose)) continue;
    const at = new Vector3(pose[0], pose[1], pose[2]);
    low.min(at);
    high.max(at);
  }
  if (low.x > high.x) return { at: new Vector3(), reach_m: 1 };
  return { at: low.clone().add(high).multiplyScalar(0.5), reach_m: Math.max(2.5 * size_m, 0.5 * low.distanceTo(high)) };
}
