// SPDX-License-Identifier: MIT
// The blind comparison: which of two methods is smoother? Their names appear after the last round.
import { element, make, short } from './dom.ts';
import { variable } from './palette.ts';
import type { Run } from './run.ts';
import type { Stage } from './scene.ts';

const rounds = 5;

export class BlindTest {
  private run: Run | null = null;
  private pair: [number, number] = [0, 1];
  private readonly answers: { a: string; b: string; chosen: string }[] = [];

  constructor(private readonly random: () => number = Math.random) {
    const answer = (of: (a: string, b: string) => string) => () => this.answer(of);
    element('blind-a').addEventListener('click', answer((a) => a));
    element('blind-b').addEventListener('click', answer((_a, b) => b));
    element('blind-none').addEventListener('click', answer(() => ''));
  }

  show(run: Run): void {
    this.run = run;
    this.restart();
  }

  private restart(): void {
    this.answers.length = 0;
    element('blind-result').replaceChildren();
    this.nextPair();
  }

  private nextPair(): void {
    const count = this.run?.methods.length ?? 0;
    const enough = count >= 2;
    for (const id of ['blind-a', 'blind-b', 'blind-none']) element<HTMLButtonElement>(id).disabled = !enough;
    if (!enough) return;
    const first = Math.floor(this.random() * count);
    const second = (first + 1 + Math.floor(this.random() * (count - 1))) % count;
    this.pair = [first, second];
    element('blind-round').textContent = `Round ${this.answers.length + 1} of ${rounds}`;
  }

  private answer(of: (a: string, b: string) => string): void {
    if (!this.run) return;
    const [a, b] = this.pair.map((i) => this.run!.methods[i]!) as [string, string];
    this.answers.push({ a, b, chosen: of(a, b) });
    if (this.answers.length < rounds) return this.nextPair();
    for (const id of ['blind-a', 'blind-b', 'blind-none']) element<HTMLButtonElement>(id).disabled = true;
    element('blind-round').textContent = 'These were the methods:';
    const jerk = (method: string) => short(this.run!.figures.find((f) => f.method === method)?.velocity_step_mps?.p99 ?? NaN);
    const again = make('button', { type: 'button', textContent: 'Play again' });
    again.addEventListener('click', () => this.restart());
    element('blind-result').replaceChildren(
      make('table', {}, make('thead', {}, make('tr', {}, ...['A (jerk p99)', 'B (jerk p99)', 'You found smoother'].map((t) => make('th', { scope: 'col', textContent: t })))),
        make('tbody', {}, ...this.answers.map(({ a, b, chosen }) => make('tr', {}, make('td', { textContent: `${a} (${jerk(a)})` }),
          make('td', { textContent: `${b} (${jerk(b)})` }), make('td', { textContent: chosen || 'no difference' }))))),
      again);
  }

  draw(stage: Stage, time_s: number): void {
    if (!this.run) return;
    const colour = () => variable('--accent');
    stage.draw(time_s, ...this.pair.map((shown) => ({ shows: (method: number) => method === shown, colour })));
  }
}
