// SPDX-License-Identifier: MIT
// The map over latency and loss: one run per cell, in a worker of its own.
import { element, make, options, short } from './dom.ts';
import { Engine } from './engine.ts';
import { columns } from './figures.ts';
import { fullName, ours, plainName } from './methods.ts';
import type { Catalog } from './module.ts';
import { copyOf, toModule, type Settings } from './settings.ts';

const latencies = [0, 25, 50, 80, 120, 180, 250];
const losses = [0, 1, 2, 5, 10, 20];

const shade = (hue: number, strength: number) => `hsl(${hue} 75% 55% / ${0.1 + 0.5 * Math.min(1, strength)})`;
/** Blue below 1, where the first method has less, and orange above, where the second has. */
const ratioColour = (ratio: number) => shade(ratio < 1 ? 212 : 28, Math.abs(Math.log2(Math.max(ratio, 1e-3))) / 2);
const valueColour = (share: number) => shade(212, share);

export class HeatMap {
  private engine: Engine | null = null;
  private round = 0;

  constructor(
    catalog: Catalog, private readonly settings: () => Settings,
    private readonly recording: () => { name: string; text: string } | null,
    private readonly choose: (latency: number, loss: number) => void, private readonly failed: (error: string) => void,
  ) {
    const methods = catalog.methods.map((m): [string, string] => [m, fullName(m)]);
    options(element('map-method'), methods, ours);
    options(element('map-other'), [['', 'nothing'], ...methods], 'snap');
    options(element('map-figure'), columns.map((c): [string, string] => [c.name, c.title]), columns[0]!.name);
    element('map-run').addEventListener('click', () => void this.compute());
    for (const id of ['map-method', 'map-other', 'map-figure']) element(id).addEventListener('change', () => this.clear());
    this.clear();
  }

  /** Forgets the cells, which were about something else, and explains those to come. */
  private clear(): void {
    ++this.round;
    this.engine?.stop();
    this.engine = null;
    element('map-progress').hidden = true;
    element('map-run').textContent = 'Compute the map';
    this.draw([]);
    this.explain();
  }

  private explain(): void {
    const method = element<HTMLSelectElement>('map-method').value;
    const other = element<HTMLSelectElement>('map-other').value;
    const figure = columns.find((c) => c.name === element<HTMLSelectElement>('map-figure').value)!;
    const name = plainName(method);
    const title = figure.title.replace(/,? \/s$/, ' per second').replace(/, .*$/, '').toLowerCase();
    const key = (background: string) => {
      const box = make('span', { className: 'key' });
      box.style.background = background;
      return box;
    };
    const legend = other && other !== method
      ? [`A cell is the ${title} of ${name} divided by that of ${plainName(other)}. `, make('br'),
        key(ratioColour(0.5)), figure.better ? `Blue, below 1: ${name} is better.` : `Blue, below 1: ${name} has less.`,
        ' ', key(ratioColour(2)), figure.better ? `Orange, above 1: ${plainName(other)} is better.` : `Orange, above 1: ${name} has more.`]
      : [`A cell is the ${title} of ${name}${figure.title.includes(', ') ? `, in ${figure.title.split(', ')[1]}` : ''}. `, make('br'),
        key(valueColour(0.1)), 'Pale: small. ', key(valueColour(1)), `Strong: large.${figure.better ? ' Small is good.' : ''}`];
    element('map-legend').replaceChildren(
      'Each cell is a run over a network with the latency of its column and the loss of its row, both ways. All other settings are yours. ',
      ...legend, ' A dash: one of them showed too little for a figure. Choose a cell to use its network.');
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
          button.style.background = ratio ? ratioColour(value) : valueColour(value / most);
        }
        button.addEventListener('click', () => this.choose(latency, loss));
        return make('td', {}, button);
      })));
    element('map').replaceChildren(make('thead', {}, head), make('tbody', {}, ...rows));
  }
}
