// SPDX-License-Identifier: MIT
import { BlindTest } from './blind.ts';
import { Controls } from './controls.ts';
import { copy, element, options, tabs, toast } from './dom.ts';
import { Engine } from './engine.ts';
import { Explainer, isSession } from './explain.ts';
import { showFigures } from './figures.ts';
import { drawLane } from './lane.ts';
import { HeatMap } from './map.ts';
import { colourOf } from './palette.ts';
import { Plots } from './plots.ts';
import { Run } from './run.ts';
import { Stage } from './scene.ts';
import { copyOf, defaults, fromAddress, toAddress, toModule, type Settings } from './settings.ts';

const playIcon = '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 1.5v13l11-6.5z" fill="currentColor"/></svg>';
const pauseIcon = '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 2h4v12H3zm6 0h4v12H9z" fill="currentColor"/></svg>';
const largestFile = 64 << 20;

class Page {
  private settings: Settings = copyOf(defaults);
  private readonly engine = new Engine();
  private readonly stage = new Stage(element<HTMLCanvasElement>('scene'));
  private blindStage: Stage | null = null;
  private readonly blind = new BlindTest();
  private readonly explainer = new Explainer(this.engine, (error) => this.fail(error));
  private readonly plots = new Plots();
  private controls!: Controls;
  private recording: { name: string; text: string } | null = null;
  private readonly hidden = new Set<string>(['article', 'linear', 'tracker', 'quadratic', 'offset-decay', 'hermite-buffer', 'colyseus-like']);
  private run: Run | null = null;
  private tab = 'replay';
  private choose: (name: string) => void = () => {};
  private time_s = 0;
  private playing = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  private last_ms = 0;
  private wanted = 0; // number of the newest change; older runs are dropped
  private running = false;
  private timer = 0;
  private frame_ms: number[] = [];

  async start(): Promise<void> {
    const catalog = await this.engine.ask<'catalog'>({ kind: 'catalog' });
    this.settings = fromAddress(location.hash, catalog);
    this.controls = new Controls(() => this.settings, catalog, () => this.changed());
    this.controls.show();
    new HeatMap(catalog, () => this.settings, () => (this.settings.scenario === '' ? this.recording : null),
      (latency, loss) => {
        for (const side of ['up', 'down'] as const) Object.assign(this.settings[side], { 'latency-ms': latency, loss });
        this.controls.show();
        this.changed();
        toast(`Network: ${latency} ms, ${loss} % loss`);
      }, (error) => this.fail(error));
    this.choose = tabs((name) => (this.tab = name));
    this.choose('replay');
    this.listen();
    window.addEventListener('hashchange', () => {
      if (location.hash.replace(/^#/, '') === toAddress(this.settings)) return;
      this.settings = fromAddress(location.hash, catalog);
      this.controls.show();
      this.changed();
    });
    await this.compute();
    requestAnimationFrame((now) => this.frame(now));
  }

  private listen(): void {
    element('play').addEventListener('click', () => this.setPlaying(!this.playing));
    this.setPlaying(this.playing);
    const scrub = element<HTMLInputElement>('scrub');
    scrub.addEventListener('input', () => this.seek(Number(scrub.value)));
    this.plots.onSeek = (time_s) => this.seek(time_s);
    for (const radio of document.querySelectorAll<HTMLInputElement>('input[name=camera]')) {
      radio.addEventListener('change', () => (this.stage.flat = radio.value === '2d'));
    }
    const check = (id: 'follow' | 'trails') => {
      const box = element<HTMLInputElement>(id);
      box.addEventListener('change', () => (this.stage[id] = box.checked));
    };
    check('follow');
    check('trails');
    const followed = element<HTMLSelectElement>('followed');
    followed.addEventListener('change', () => {
      this.stage.followed = Number(followed.value);
      this.showPlots();
    });
    element('copy-link').addEventListener('click', () => void copy(location.href, 'Link'));
    element('copy-command').addEventListener('click', () => void this.copyText('command', 'Command'));
    element('copy-cpp').addEventListener('click', () => void this.copyText('cpp', 'C++ code'));
    element('reset').addEventListener('click', () => {
      this.settings = { ...copyOf(defaults), ...(this.recording ? { trace: this.recording.name } : {}) };
      this.controls.show();
      this.changed();
    });
    const file = element<HTMLInputElement>('file');
    element('open-file').addEventListener('click', () => file.click());
    element('explain-open').addEventListener('click', () => file.click());
    file.addEventListener('change', () => {
      void this.openAll([...(file.files ?? [])]);
      file.value = '';
    });
    this.listenForDrops();
    document.addEventListener('keydown', (event) => this.key(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.showRun());
  }

  private listenForDrops(): void {
    const drop = element('drop');
    document.addEventListener('dragover', (event) => {
      event.preventDefault();
      drop.hidden = false;
    });
    document.addEventListener('dragleave', (event) => {
      if (!event.relatedTarget) drop.hidden = true;
    });
    document.addEventListener('drop', (event) => {
      event.preventDefault();
      drop.hidden = true;
      void this.openAll([...(event.dataTransfer?.files ?? [])]);
    });
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || ['INPUT', 'SELECT', 'BUTTON', 'SUMMARY'].includes(target.tagName)) return;
    const frame = 1 / (this.run?.shape.frame_rate_hz ?? 60);
    const actions: Record<string, () => void> = {
      ' ': () => this.setPlaying(!this.playing),
      ArrowLeft: () => this.seek(this.time_s - (event.shiftKey ? 1 : frame)),
      ArrowRight: () => this.seek(this.time_s + (event.shiftKey ? 1 : frame)),
      Home: () => this.seek(0),
      End: () => this.seek(this.run?.seconds ?? 0),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    if (event.key !== ' ') this.setPlaying(false);
    action();
  }

  private setPlaying(playing: boolean): void {
    this.playing = playing;
    const button = element('play');
    button.innerHTML = playing ? pauseIcon : playIcon;
    button.setAttribute('aria-label', playing ? 'Pause' : 'Play');
  }

  private seek(time_s: number): void {
    this.time_s = Math.min(Math.max(0, time_s), this.run?.seconds ?? 0);
  }

  private async copyText(kind: 'command' | 'cpp', what: string): Promise<void> {
    try {
      await copy(await this.engine.ask<typeof kind>({ kind, settings: toModule(this.settings) }), what);
    } catch (error) {
      this.fail((error as Error).message);
    }
  }

  /** Opens dropped files: a recording, or a recorded session and the decisions of its server. */
  private async openAll(files: File[]): Promise<void> {
    for (const file of files) await this.open(file);
  }

  async open(file: File): Promise<void> {
    try {
      if (file.size > largestFile) throw new Error(`${file.name}: is larger than ${largestFile} bytes`);
      this.fail(null);
      if (await isSession(file)) {
        await this.explainer.open(file);
        return this.choose('explain');
      }
      if (await this.explainer.addDecisions(file)) return this.choose('explain');
      const text = await file.text();
      const opened = await this.engine.ask<'open'>({ kind: 'open', name: file.name, text });
      this.recording = { name: file.name, text };
      this.controls.recording = { name: file.name, entities: opened.entities };
      Object.assign(this.settings, { scenario: '', trace: file.name, start: 0, seconds: Math.min(60, Math.ceil(opened.seconds)) });
      if (!['busiest', 'all', ...opened.entities].includes(this.settings.entity)) this.settings.entity = 'busiest';
      this.controls.show();
      this.changed();
    } catch (error) {
      this.fail((error as Error).message);
    }
  }

  private fail(message: string | null): void {
    const box = element('error');
    box.hidden = message === null;
    box.textContent = message ?? '';
  }

  /** After a change: the address follows at once, the figures after a short pause. */
  private changed(): void {
    ++this.wanted;
    history.replaceState(null, '', `#${toAddress(this.settings)}`);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.compute(), 60);
  }

  private async compute(): Promise<void> {
    if (this.running) return;
    this.running = true;
    document.body.dataset.state = 'running';
    for (let done = -1; done !== this.wanted; ) {
      done = this.wanted;
      element('status').textContent = 'computing…';
      try {
        if (this.settings.scenario === '' && this.settings.trace !== this.recording?.name) {
          throw new Error(`This address needs the recording ${this.settings.trace}: drop the file on the page.`);
        }
        const result = await this.engine.ask<'run'>({ kind: 'run', settings: toModule(this.settings) });
        this.run = new Run(result);
        this.fail(null);
        this.showRun();
      } catch (error) {
        this.fail((error as Error).message);
        element('status').textContent = '';
      }
    }
    this.running = false;
    document.body.dataset.state = 'ready';
  }

  private showRun(): void {
    const { run } = this;
    if (!run) return;
    this.stage.show(run);
    this.blindStage?.show(run);
    this.blind.show(run);
    this.seek(this.time_s);
    element<HTMLInputElement>('scrub').max = String(run.seconds);
    options(element('followed'), run.shape.names.map((name, i): [string, string] => [String(i), name]), String(this.stage.followed));
    showFigures(run, (m) => !this.hidden.has(m), (method, on) => {
      if (on) this.hidden.delete(method);
      else this.hidden.add(method);
      this.plots.toggle(run.methods.indexOf(method), on);
    });
    this.showPlots();
    element('status').textContent = `${run.methods.length} methods in ${run.took_ms.toFixed(0)} ms`;
  }

  private showPlots(): void {
    if (this.run) this.plots.show(this.run, this.stage.followed, (m) => !this.hidden.has(m));
  }

  private frame(now_ms: number): void {
    requestAnimationFrame((now) => this.frame(now));
    const passed_ms = Math.min(100, now_ms - this.last_ms);
    this.last_ms = now_ms;
    this.frame_ms.push(passed_ms);
    if (this.frame_ms.length > 240) this.frame_ms.shift();
    const { run } = this;
    if (!run) return;
    if (this.playing) {
      const speed = Number(element<HTMLSelectElement>('speed').value);
      this.time_s += (passed_ms / 1000) * speed;
      if (this.time_s > run.seconds) this.time_s = 0;
    }
    if (this.tab === 'replay') this.drawReplay(run);
    if (this.tab === 'explain') this.explainer.frame(passed_ms / 1000);
    if (this.tab === 'blind') {
      if (!this.blindStage) {
        this.blindStage = new Stage(element<HTMLCanvasElement>('blind-scene'));
        this.blindStage.show(run);
      }
      this.blind.draw(this.blindStage, this.time_s);
    }
  }

  private drawReplay(run: Run): void {
    const scrub = element<HTMLInputElement>('scrub');
    scrub.value = String(this.time_s);
    scrub.setAttribute('aria-valuetext', `${this.time_s.toFixed(2)} seconds`);
    element('time').textContent = `${this.time_s.toFixed(2)} s`;
    this.stage.draw(this.time_s, { shows: (method, name) => method < 0 || !this.hidden.has(name) });
    const shown = Math.max(0, run.methods.findIndex((m) => !this.hidden.has(m)));
    drawLane(element<HTMLCanvasElement>('lane'), run, shown, this.time_s, colourOf(run.methods[shown]!));
    this.plots.mark(this.time_s);
  }

  /** For the tests: what the page shows, in numbers. */
  get state() {
    return {
      figures: this.run?.text ?? '', took_ms: this.run?.took_ms ?? 0, time_s: this.time_s, playing: this.playing,
      entities: this.run?.shape.entities ?? 0, frame_ms: [...this.frame_ms], settings: toModule(this.settings),
      session: this.explainer.state,
    };
  }
}

const page = new Page();
(window as unknown as { playground: Page }).playground = page;
page.start().catch((error: Error) => {
  const box = element('error');
  box.hidden = false;
  box.textContent = `The playground cannot start: ${error.message}`;
});
const secure = location.protocol === 'https:' || location.hostname === 'localhost' || location.hostname === '127.0.0.1';
if (secure) void navigator.serviceWorker?.register('offline.js').catch(() => {});
