// SPDX-License-Identifier: MIT
// The form with all settings. It edits a Settings object and reports each change.
import { element, make, options } from './dom.ts';
import type { Catalog } from './module.ts';
import { linkOf, type LinkOption, type Settings } from './settings.ts';

interface Slider {
  name: string;
  label: string;
  most: number;
  step: number;
}

const linkSliders: (Slider & { name: LinkOption })[] = [
  { name: 'latency-ms', label: 'Latency, ms', most: 400, step: 1 },
  { name: 'jitter-ms', label: 'Jitter, ms', most: 150, step: 1 },
  { name: 'loss', label: 'Loss, %', most: 30, step: 0.1 },
  { name: 'burst', label: 'Mean burst, packets', most: 20, step: 0.5 },
  { name: 'duplicate', label: 'Duplicates, %', most: 20, step: 0.1 },
  { name: 'rate-kbps', label: 'Rate limit, kbit/s (0: none)', most: 512, step: 1 },
];

export interface Recording {
  name: string;
  entities: string[];
}

export class Controls {
  recording: Recording | null = null;
  private readonly rows = new Map<string, { row: HTMLElement; range: HTMLInputElement; number: HTMLInputElement; get(): number }>();

  constructor(private readonly settings: () => Settings, private readonly catalog: Catalog, private readonly changed: () => void) {
    this.addPresets();
    for (const slider of linkSliders) {
      this.addSlider('link-sliders', slider, () => this.linkValue(slider.name), (value) => this.setLink(slider.name, value));
    }
    const plain = (key: 'updates' | 'threshold' | 'delay' | 'blend') => [() => settings()[key], (v: number) => (settings()[key] = v)] as const;
    this.addSlider('sender-sliders', { name: 'updates', label: 'Updates per second', most: 60, step: 0.5 }, ...plain('updates'));
    this.addSlider('sender-sliders', { name: 'threshold', label: 'Threshold, m', most: 2, step: 0.005 }, ...plain('threshold'));
    this.addSlider('client-sliders', { name: 'blend', label: 'T: frames per blend', most: 60, step: 0.5 }, ...plain('blend'));
    this.addSlider('client-sliders', { name: 'delay', label: 'Delay, ms', most: 1000, step: 5 }, ...plain('delay'));
    for (const key of ['budget', 'mode', 'curve'] as const) {
      for (const radio of document.querySelectorAll<HTMLInputElement>(`input[name=${key}]`)) {
        radio.addEventListener('change', () => this.apply(() => ((settings() as unknown as Record<string, string>)[key] = radio.value)));
      }
    }
    for (const radio of document.querySelectorAll<HTMLInputElement>('input[name=side]')) radio.addEventListener('change', () => this.show());
    for (const key of ['entities', 'start', 'seconds', 'seed'] as const) {
      const input = element<HTMLInputElement>(key);
      input.addEventListener('change', () => this.apply(() => (settings()[key] = Math.max(0, Number(input.value) || 0))));
    }
    const source = element<HTMLSelectElement>('source');
    source.addEventListener('change', () => this.apply(() => {
      settings().scenario = source.value === '\0' ? '' : source.value;
      if (settings().scenario === '') settings().trace = this.recording?.name ?? settings().trace;
    }));
    const entity = element<HTMLSelectElement>('entity');
    entity.addEventListener('change', () => this.apply(() => (settings().entity = entity.value)));
  }

  private apply(change: () => void): void {
    change();
    this.show();
    this.changed();
  }

  private side(): 'both' | 'up' | 'down' {
    return document.querySelector<HTMLInputElement>('input[name=side]:checked')!.value as 'both' | 'up' | 'down';
  }
  private linkValue(name: LinkOption): number {
    return linkOf(this.settings(), this.side() === 'up' ? 'up' : 'down', this.catalog)[name];
  }
  private setLink(name: LinkOption, value: number): void {
    const settings = this.settings();
    const base = this.catalog.networks.find((n) => n.name === settings.network)?.link ?? this.catalog.perfect;
    const side = this.side();
    for (const one of side === 'both' ? (['up', 'down'] as const) : [side]) {
      if (value === base[name]) delete settings[one][name];
      else settings[one][name] = value;
    }
  }

  private addPresets(): void {
    const group = element('presets');
    const buttons = [...this.catalog.networks.map((n) => n.name), ''].map((name) => {
      const button = make('button', { type: 'button', textContent: name || 'perfect' });
      button.setAttribute('role', 'radio');
      button.dataset.network = name;
      button.addEventListener('click', () => this.apply(() => Object.assign(this.settings(), { network: name, up: {}, down: {} })));
      return button;
    });
    buttons.forEach((button, i) => button.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const next = buttons[(i + step + buttons.length) % buttons.length]!;
      next.focus();
      next.click();
    }));
    group.replaceChildren(...buttons);
  }

  private addSlider(parent: string, slider: Slider, get: () => number, set: (value: number) => unknown): void {
    const id = `slider-${slider.name}`;
    const common = { min: '0', max: String(slider.most), step: String(slider.step) };
    const range = make('input', { type: 'range', ...common });
    range.setAttribute('aria-label', slider.label);
    range.id = `${id}-range`;
    const number = make('input', { type: 'number', min: '0', step: 'any', id });
    const row = make('div', { className: 'slider' }, make('label', { htmlFor: id, textContent: slider.label }), number, range);
    range.addEventListener('input', () => this.apply(() => set(Number(range.value))));
    number.addEventListener('change', () => {
      const value = Number(number.value);
      if (Number.isFinite(value) && number.value !== '') this.apply(() => set(value));
      else this.show();
    });
    element(parent).append(row);
    this.rows.set(slider.name, { row, range, number, get });
  }

  /** Shows the present settings. */
  show(): void {
    const settings = this.settings();
    const { scenario } = settings;
    const entries: [string, string][] = this.catalog.scenarios.map((s) => [s.name, s.name]);
    const recording = this.recording?.name ?? settings.trace;
    if (recording) entries.push(['\0', recording]);
    options(element('source'), entries, scenario === '' ? '\0' : scenario);
    element('source-help').textContent = this.catalog.scenarios.find((s) => s.name === scenario)?.description ?? 'a recording';
    element('entity-row').hidden = scenario !== '';
    element('entities-row').hidden = scenario === '';
    const ids = this.recording?.entities ?? [];
    options(element('entity'), [['busiest', 'the busiest'], ['all', 'all'], ...ids.map((id): [string, string] => [id, id])], settings.entity);
    for (const key of ['start', 'seconds', 'seed'] as const) element<HTMLInputElement>(key).value = String(settings[key]);
    element<HTMLInputElement>('entities').value = settings.entities > 0 ? String(settings.entities) : '';
    for (const key of ['budget', 'mode', 'curve'] as const) {
      for (const radio of document.querySelectorAll<HTMLInputElement>(`input[name=${key}]`)) radio.checked = radio.value === settings[key];
    }
    for (const [name, { row, range, number, get }] of this.rows) {
      const value = get();
      if (document.activeElement !== number) number.value = String(value);
      range.value = String(value);
      row.classList.toggle('changed', name in settings.up || name in settings.down);
    }
    this.rows.get('updates')!.row.hidden = settings.budget !== 'updates';
    this.rows.get('threshold')!.row.hidden = settings.budget !== 'threshold';
    this.rows.get('delay')!.row.hidden = settings.mode !== 'delayed';
    for (const button of element('presets').querySelectorAll('button')) {
      const chosen = button.dataset.network === settings.network;
      button.setAttribute('aria-checked', String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
  }
}
