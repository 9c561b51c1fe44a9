// SPDX-License-Identifier: MIT
// The map over latency and loss: one run per cell, in a worker of its own.
import { element, make, options, short } from './dom.ts';
import { Engine } from './engine.ts';
import { columns } from './figures.ts';
import type { Catalog } from './module.ts';
import { copyOf, toModule, type Settings } from './settings.ts';

const latencies = [0, 25, 50, 80, 120, 180, 250];
const losses = [0, 1, 2, 5, 10, 20];

export class HeatMap {
  private engine: Engine | null = null;
  private round = 0;

  constructor(
    catalog: Catalog, private readonly settings: () => Settings,
    private readonly recording: () => { name: string; text: string } | null,
    private readonly choose: (latency: number, loss: number) => void, private readonly failed: (error: string) => void,
  ) {
    const methods = catalog.methods.map((m): [string, string] => [m, m]);
    options(element('map-method'), methods, 'reckoner');
    options(element('map-other'), [['', 'nothing'], ...methods], 'projective');
    options(element('map-figure'), columns.map((c): [string, string] => [c.name, c.title]), columns[0]!.name);
    element('map-run').addEventListener('click', () => void this.compute());
    this.draw([]);
  }

  private async compute(): Promise<void> {
    const round = ++this.round;
    this.engine?.stop();
    const engine = (this.engine = new Engine());
    const progress = element<HTMLProgressElement>('map-progress');
    const button = element<HTMLButtonElement>('map-run');
    const method = element<HTMLSelectElement>('map-method').value;
    const other = element<HTMLSelectElement>('map-other').value;
    const figure = columns.find((c) => c.name === element<HTMLSelectElement>('map-figure').value)!;
    const values: (number | undefined)[] = [];
    const reasons: string[] = [];  // of cells without a figure
    progress.hidden = false;
    progress.value = 0;
    button.textContent = 'Start again';
    try {
      const recording = this.recording();
      if (recording) await engine.ask<'open'>({ kind: 'open', ...recording });
      const cells = losses.flatMap((loss) => latencies.map((latency) => ({ latency, loss })));
      for (const [i, cell] of cells.entries()) {
        const one = copyOf(this.settings());
        const link = { 'latency-ms': cell.latency, loss: cell.loss };
        Object.assign(one, { methods: other && other !== method ? [method, other] : [method] });
        Object.assign(one.up, link);
        Object.assign(one.down, link);
        const isRatio = one.methods.length > 1;
        try {
          const { runs } = JSON.parse(await engine.ask<'figures'>({ kind: 'figures', settings: toModule(one) }));
          const ours = figure.of(runs[0]) ?? NaN;
          values[i] = isRatio ? ours / (figure.of(runs[1]) ?? NaN) : ours;
        } catch (error) {
          // A short run over a bad network may show too little for a figure.
          values[i] = NaN;
          reasons[i] = String((error as Error).message);
        }
        if (round !== this.round) return;
        progress.value = (i + 1) / cells.length;
        this.draw(values, isRatio, reasons);
      }
      if (values.every((value) => Number.isNaN(value))) this.failed(reasons[0]!);
      progress.hidden = true;
      button.textContent = 'Compute the map';
      engine.stop();
    } catch (error) {
      if (round === this.round) this.failed(String((error as Error).message));
    }
  }

  private draw(values: (number | undefined)[], ratio = false, reasons: string[] = []): void {
    const known = values.filter((v): v is number => v !== undefined && Number.isFinite(v));
    const most = Math.max(...known, 1e-9);
    const head = make('tr', {}, make('th', { scope: 'col', textContent: 'Loss \\ latency' }),
      ...latencies.map((l) => make('th', { scope: 'col', textContent: `${l} ms` })));
    const rows = losses.map((loss, r) => make('tr', {}, make('th', { scope: 'row', textContent: `${loss} %` }),
      ...latencies.map((latency, c) => {
        const cell = r * latencies.length + c;
        const value = values[cell];
        const reason = reasons[cell];
        const text = value === undefined ? '·' : short(value);
        const spoken = value === undefined ? 'not computed' : reason ?? text;
        const button = make('button', { type: 'button', textContent: text, title: reason ?? '' });
        button.setAttribute('aria-label', `${latency} ms, ${loss} %: ${spoken}`);
        if (value !== undefined && Number.isFinite(value)) {
          // A ratio below 1 is green: the first method is better. Other figures go from pale to strong.
          const hue = ratio ? (value < 1 ? 150 : 12) : 212;
          const strength = ratio ? Math.min(1, Math.abs(Math.log2(Math.max(value, 1e-3))) / 2) : value / most;
          button.style.background = `hsl(${hue} 65% 50% / ${0.1 + 0.6 * strength})`;
        }
        button.addEventListener('click', () => this.choose(latency, loss));
        return make('td', {}, button);
      })));
    element('map').replaceChildren(make('thead', {}, head), make('tbody', {}, ...rows));
  }
}
