// SPDX-License-Identifier: MIT
import { BlindTest } from './blind.ts';
import { Controls } from './controls.ts';
import { copy, element, options, tabs, toast } from './dom.ts';
import { Engine } from './engine.ts';
import { Explainer, isSession } from './explain.ts';
import { showFigures } from './figures.ts';
import { drawLanes } from './lane.ts';
import { HeatMap } from './map.ts';
import { fullName, methodHelp, ours } from './methods.ts';
import { moments } from './moments.ts';
import { poseFloats, type Catalog } from './module.ts';
import { Packets } from './packets.ts';
import { colourOf } from './palette.ts';
import { Plots } from './plots.ts';
import { Run } from './run.ts';
import { Stage } from './scene.ts';
import { copyOf, defaults, fromAddress, toAddress, toModule, type Settings } from './settings.ts';
import { Tour } from './tour.ts';
import { defaultView, viewFromAddress, viewToAddress, type View } from './view.ts';

const playIcon = '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 1.5v13l11-6.5z" fill="currentColor"/></svg>';
const pauseIcon = '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 2h4v12H3zm6 0h4v12H9z" fill="currentColor"/></svg>';
const largestFile = 64 << 20;

class Page {
  private settings: Settings = copyOf(defaults);
  private readonly engine = new Engine();
  private readonly stage = new Stage(element<HTMLCanvasElement>('scene'));
  private blindStage: Stage | null = null;
  private readonly blind = new BlindTest((method) => this.computeForBlind(method));
  private blindMethods: string[] = []; // computed for the blind test; not in the address, which would tell
  private readonly explainer = new Explainer(this.engine, (error) => this.fail(error));
  private readonly plots = new Plots();
  private readonly packets = new Packets(element<HTMLCanvasElement>('lane'), () => this.setPlaying(false), () => (this.drawn = ''));
  private controls!: Controls;
  private recording: { name: string; text: string } | null = null;
  private run: Run | null = null;
  private view: View = { ...defaultView };
  private catalog!: Catalog;
  private address = ''; // what the page has written last, without the number sign
  private seekTurn = true; // the next run begins at a moment with a turn
  private motion = ''; // the settings of the motion that the page shows
  private choose: (name: string) => void = () => {};
  private time_s = 0;
  private playing = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  private last_ms = 0;
  private wanted = 0; // number of the newest change; older runs are dropped
  private computed = -1; // number of the change that `run` belongs to
  private running = false;
  private timer = 0;
  private shown = 0; // counts what was handed to the stage
  private drawn = ''; // what the view shows
  private frame_ms: number[] = [];

  async start(): Promise<void> {
    const catalog = (this.catalog = await this.engine.ask<'catalog'>({ kind: 'catalog' }));
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
    this.choose = tabs((name) => (this.view.tab = name));
    this.listen();
    this.fitScreen();
    this.useView(viewFromAddress(location.hash, catalog));
    window.addEventListener('hashchange', () => {
      if (location.hash.replace(/^#/, '') === this.address) return;
      this.settings = fromAddress(location.hash, catalog);
      this.controls.show();
      this.useView(viewFromAddress(location.hash, catalog));
      this.changed();
    });
    const tour = new Tour(() => this.choose('replay'));
    if (location.hash.length <= 1) tour.startOnce(); // a shared link is about something else
    await this.compute();
    requestAnimationFrame((now) => this.frame(now));
  }

  /** On a small screen the network is below the picture, and the text is folded. */
  private fitScreen(): void {
    const small = matchMedia('(max-width: 820px)');
    const network = element('network');
    const [home, next] = [network.parentElement!, network.nextElementSibling];
    const place = () => {
      if (small.matches) element('network-slot').append(network);
      else home.insertBefore(network, next);
    };
    if (small.matches) element<HTMLDetailsElement>('about').open = false;
    place();
    small.addEventListener('change', place);
  }

  private listen(): void {
    element('play').addEventListener('click', () => this.setPlaying(!this.playing));
    this.setPlaying(this.playing);
    const scrub = element<HTMLInputElement>('scrub');
    scrub.addEventListener('input', () => this.seek(Number(scrub.value)));
    this.plots.onSeek = (time_s) => this.seek(time_s);
    for (const radio of document.querySelectorAll<HTMLInputElement>('input[name=camera]')) {
      radio.addEventListener('change', () => (this.stage.flat = this.view.flat = radio.value === '2d'));
    }
    const follow = element<HTMLInputElement>('follow');
    follow.addEventListener('change', () => {
      this.stage.follow = follow.checked;
      this.view.free = !follow.checked;
    });
    const trails = element<HTMLInputElement>('trails');
    trails.addEventListener('change', () => (this.stage.trails = this.view.trails = trails.checked));
    const followed = element<HTMLSelectElement>('followed');
    followed.addEventListener('change', () => {
      this.stage.followed = this.view.follow = Number(followed.value);
      this.showPlots();
    });
    const left = element<HTMLSelectElement>('left');
    options(left, this.catalog.methods.filter((m) => m !== ours).map((m): [string, string] => [m, fullName(m)]), this.view.left);
    left.addEventListener('change', () => this.showLeft(left.value));
    element('compute-all').addEventListener('click', () => this.computeAlso(this.catalog.methods));
    element('copy-link').addEventListener('click', () => {
      this.writeAddress(true);
      void copy(location.href, 'Link');
    });
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
      ' ': () => (this.view.tab === 'blind' ? this.blind.toggle() : this.setPlaying(!this.playing)),
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
      await copy(await this.engine.ask<typeof kind>({ kind, settings: toModule(this.settings, this.run?.methods) }), what);
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

  private motionKey(): string {
    const { scenario, trace, entity, entities, start, seconds } = this.settings;
    return JSON.stringify([scenario, trace, entity, entities, start, seconds]);
  }

  /** Shows what an address says, after its settings have been read. */
  private useView(view: View): void {
    this.view = view;
    this.motion = this.motionKey();
    this.seekTurn = Number.isNaN(view.at);
    if (!this.seekTurn) this.time_s = Math.max(0, view.at);
    this.choose(view.tab);
    element<HTMLSelectElement>('left').value = view.left;
    element<HTMLInputElement>('follow').checked = !view.free;
    element<HTMLInputElement>('trails').checked = view.trails;
    for (const radio of document.querySelectorAll<HTMLInputElement>('input[name=camera]')) radio.checked = (radio.value === '2d') === view.flat;
    Object.assign(this.stage, { follow: !view.free, flat: view.flat, trails: view.trails, followed: view.follow });
    this.stage.look(view.turn, view.tilt, view.zoom);
  }

  /** Writes the settings and the view to the address; the time and the camera only for a link that is copied. */
  private writeAddress(whole: boolean): void {
    const view = { ...this.view, ...(whole ? { at: this.time_s, ...this.stage.view } : { at: NaN }) };
    this.address = [toAddress(this.settings), viewToAddress(view)].filter((part) => part !== '').join('&');
    history.replaceState(null, '', `#${this.address}`);
  }

  private showLeft(method: string): void {
    this.view.left = method;
    this.packets.clear();
    element<HTMLSelectElement>('left').value = method;
    this.writeAddress(false);
    this.showRun();
    if (!this.run?.has(method)) this.computeAlso([]);
  }

  /** Computes more methods for the present settings. */
  private computeAlso(methods: string[]): void {
    this.settings.methods = this.inOrder([...this.settings.methods, ...methods]);
    this.writeAddress(false);
    void this.compute();
  }

  private computeForBlind(method: string): void {
    if (this.blindMethods.includes(method)) return;
    this.blindMethods.push(method);
    void this.compute();
  }

  /** These methods in the order of the harness, each once. */
  private inOrder(methods: string[]): string[] {
    return this.catalog.methods.filter((method) => methods.includes(method));
  }

  /** After a change: the address follows at once, the figures after a short pause. */
  private changed(): void {
    ++this.wanted;
    this.blindMethods = [];
    if (this.motion !== this.motionKey()) this.seekTurn = true;
    this.motion = this.motionKey();
    this.writeAddress(false);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.compute(), 60);
  }

  private async compute(): Promise<void> {
    if (this.running) return;
    this.running = true;
    document.body.dataset.state = 'running';
    let run = this.run;
    for (let done = this.computed; ; ) {
      if (done !== this.wanted) {
        run = null;
        done = this.wanted;
      }
      // The two methods of the panes first, then the others that were asked for.
      const missing = (methods: string[]) => this.inOrder(methods).filter((m) => !run?.has(m) && !run?.failed.has(m));
      const shown = missing([ours, this.view.left]);
      const next = shown.length > 0 ? shown : missing([...this.settings.methods, ...this.blindMethods]);
      if (next.length === 0) break;
      element('status').textContent = 'computing…';
      try {
        if (this.settings.scenario === '' && this.settings.trace !== this.recording?.name) {
          throw new Error(`This address needs the recording ${this.settings.trace}: drop the file on the page.`);
        }
        run = await this.runMethods(run, next);
        if (done !== this.wanted) continue;
        this.run = run;
        this.computed = done;
        this.fail(null);
        this.showRun();
      } catch (error) {
        if (done !== this.wanted) continue;
        this.computed = done;
        this.fail((error as Error).message);
        element('status').textContent = '';
        break;
      }
    }
    this.running = false;
    document.body.dataset.state = 'ready';
  }

  /** Runs methods and adds them to `run`. One that cannot be run, such as one that showed nothing, leaves the others. */
  private async runMethods(run: Run | null, methods: string[]): Promise<Run> {
    const settings = copyOf(this.settings);
    const ask = (names: string[]) => this.engine.ask<'run'>({ kind: 'run', settings: toModule(settings, names) });
    const add = (result: Awaited<ReturnType<typeof ask>>) => {
      if (run) run.add(result);
      else run = new Run(result);
    };
    try {
      add(await ask(methods));
    } catch (error) {
      const failed = new Map<string, string>();
      for (const method of methods) {
        try {
          add(await ask([method]));
        } catch (reason) {
          failed.set(method, (reason as Error).message);
        }
      }
      if (!run) throw error;
      for (const [method, reason] of failed) if (!run.has(method)) run.failed.set(method, reason);
    }
    return run!;
  }

  private showRun(): void {
    const { run } = this;
    if (!run) return;
    ++this.shown;
    this.stage.show(run);
    this.blindStage?.show(run);
    this.blind.show(run, this.catalog.methods);
    if (this.seekTurn) this.seekToTurn(run);
    this.seek(this.time_s);
    element<HTMLInputElement>('scrub').max = String(run.seconds);
    options(element('followed'), run.shape.names.map((name, i): [string, string] => [String(i), name]), String(this.stage.followed));
    showFigures(run, this.catalog.methods, this.view.left, { show: (method) => this.showLeft(method), compute: (methods) => this.computeAlso(methods) });
    this.showPlots();
    element('left').title = methodHelp(this.view.left);
    const count = run.methods.length;
    element('status').textContent = `${count} ${count === 1 ? 'method' : 'methods'} in ${run.took_ms.toFixed(0)} ms`;
  }

  /** Goes to the strongest turn of the followed entity: to a moment before it, or, while paused, just after it. */
  private seekToTurn(run: Run): void {
    this.seekTurn = false;
    const turns = [...moments(run, Math.min(this.view.follow, run.shape.entities - 1), 3), ...moments(run, -1, 3)];
    const turn = turns[0];
    if (!turn) return;
    this.stage.followed = this.view.follow = turn.entity;
    this.time_s = Math.max(0, turn.time_s + (this.playing ? -1 : 0.2));
  }

  private showPlots(): void {
    if (this.run) this.plots.show(this.run, this.stage.followed, (m) => m === ours || m === this.view.left);
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
    if (this.view.tab === 'replay') this.drawReplay(run);
    if (this.view.tab === 'explain') this.explainer.frame(passed_ms / 1000);
    if (this.view.tab === 'blind') {
      if (!this.blindStage) {
        this.blindStage = new Stage(element<HTMLCanvasElement>('blind-scene'));
        this.blindStage.show(run);
      }
      this.blind.draw(this.blindStage, passed_ms / 1000);
    }
  }

  private drawReplay(run: Run): void {
    const scrub = element<HTMLInputElement>('scrub');
    scrub.value = String(this.time_s);
    scrub.setAttribute('aria-valuetext', `${this.time_s.toFixed(2)} seconds`);
    element('time').textContent = `${this.time_s.toFixed(2)} s`;
    // A picture that would be the same is not drawn again, to spare processors without a graphics card.
    const { canvas } = this.stage;
    const picture = JSON.stringify([this.time_s, this.view, this.stage.view, canvas.clientWidth, canvas.clientHeight, devicePixelRatio, this.shown]);
    if (picture === this.drawn) return;
    this.drawn = picture;
    const methods = [run.methods.indexOf(this.view.left), run.methods.indexOf(ours)];
    this.stage.draw(this.time_s, ...methods.map((method) => ({ shows: (one: number) => one < 0 || one === method })));
    const width = element('lane').clientWidth;
    const lanes = methods.map((method, i) => ({ lane: { left: (i * width) / 2, right: ((i + 1) * width) / 2 }, method }));
    this.packets.update(run, lanes, this.time_s);
    drawLanes(element<HTMLCanvasElement>('lane'), run, lanes.map((part, i) => ({
      ...part, colour: colourOf(i === 0 ? this.view.left : ours), chosen: this.packets.chosenOf(i),
    })), this.time_s);
    element('left-off').textContent = this.offText(run, this.view.left);
    element('right-off').textContent = this.offText(run, ours);
    const square = this.stage.square_m;
    element('square').textContent = `1 square: ${square >= 1 ? `${square} m` : `${Number((square * 100).toPrecision(3))} cm`}`;
    this.plots.mark(this.time_s);
  }

  /** How far the followed entity is drawn from the truth. */
  private offText(run: Run, name: string): string {
    const method = run.methods.indexOf(name);
    if (method < 0) return run.failed.has(name) ? 'showed too little' : 'computing…';
    const [truth, drawn] = [new Float64Array(poseFloats), new Float64Array(poseFloats)];
    if (!run.pose(-1, this.stage.followed, this.time_s, truth) || !run.pose(method, this.stage.followed, this.time_s, drawn)) return 'not shown';
    return `off by ${(100 * Math.hypot(truth[0]! - drawn[0]!, truth[1]! - drawn[1]!, truth[2]! - drawn[2]!)).toFixed(0)} cm`;
  }

  /** For the tests: what the page shows, in numbers. */
  get state() {
    return {
      figures: this.run ? JSON.stringify(this.run.figures) : '', methods: this.run?.methods ?? [], took_ms: this.run?.took_ms ?? 0, time_s: this.time_s, playing: this.playing,
      entities: this.run?.shape.entities ?? 0, frame_ms: [...this.frame_ms], settings: toModule(this.settings, this.run?.methods), view: { ...this.view, ...this.stage.view },
      session: this.explainer.state, blind: this.blind.state,
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
