// SPDX-License-Identifier: MIT
// The live view: joins a running server as a spectator, and shows what its client shows.
import { element, make, options, short } from './dom.ts';
import { entityNumbers, LiveClient, type LiveState, type Traffic } from './live_client.ts';
import { LiveStage } from './live_scene.ts';
import { Module } from './module.ts';

const mostRows = 60;
const mostTokenBytes = 4096;

const kilobytes = (bytes: number) => (bytes >= 9e8 ? 'no limit' : `${(bytes / 1000).toFixed(1)} kB/s`);
const milliseconds = (seconds: number) => `${(seconds * 1000).toFixed(1)} ms`;

class LivePage {
  private module!: Module;
  private client: LiveClient | null = null;
  private stage: LiveStage | null = null;
  private token: Uint8Array = new Uint8Array();
  private last_ms = 0;
  private entities: Float64Array = new Float64Array();
  private current: LiveState | null = null;
  private listed = '';
  private traffic: { ticks: number; bytes: Map<string, number>; rates: Map<string, number> } | null = null;
  private frames = 0;

  async start(): Promise<void> {
    let memory: WebAssembly.Memory | null = null;
    this.module = await Module.load(fetch('playground.wasm'), LiveClient.importsFor(() => this.client, () => memory!));
    memory = this.module.exports.memory;
    this.stage = new LiveStage(element<HTMLCanvasElement>('scene'));
    const asked = new URLSearchParams(location.search);
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    element<HTMLInputElement>('address').value = asked.get('server') ?? `${scheme}://${location.host}/`;
    const mode = element<HTMLSelectElement>('mode');
    if (asked.get('mode')) mode.value = asked.get('mode')!;
    mode.addEventListener('change', () => this.guard(() => this.client?.setMode(mode.value)));
    element('connect').addEventListener('click', () => this.toggle());
    const file = element<HTMLInputElement>('token');
    element('token-button').addEventListener('click', () => file.click());
    file.addEventListener('change', () => void this.readToken(file.files?.[0]));
    const followed = element<HTMLSelectElement>('followed');
    followed.addEventListener('change', () => (this.stage!.followed = Number(followed.value)));
    const ghosts = element<HTMLInputElement>('ghosts');
    ghosts.addEventListener('change', () => (this.stage!.ghosts = ghosts.checked));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.stage!.recolour());
    document.body.dataset.state = 'ready';
    requestAnimationFrame((now) => this.frame(now));
    if (asked.has('watch')) this.toggle();
  }

  private async readToken(file: File | undefined): Promise<void> {
    if (!file) return;
    if (file.size > mostTokenBytes) return this.fail(`${file.name} is no token: it is too large`);
    this.token = new Uint8Array(await file.arrayBuffer());
    element('token-help').textContent = `Token: ${file.name}. It is valid once.`;
  }

  private guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.fail((error as Error).message);
    }
  }

  private toggle(): void {
    this.fail(null);
    if (this.client) {
      this.client.leave();
      this.client = null;
      this.showState(null);
      return;
    }
    this.guard(() => {
      const client = new LiveClient(this.module, () => performance.now() / 1000);
      this.client = client;
      this.listed = '';
      client.connect(element<HTMLInputElement>('address').value, this.token, element<HTMLSelectElement>('mode').value);
    });
  }

  private fail(message: string | null): void {
    const box = element('error');
    box.hidden = message === null;
    box.textContent = message ?? '';
  }

  private frame(now_ms: number): void {
    requestAnimationFrame((now) => this.frame(now));
    if (!this.client || !this.stage) return;
    this.entities = this.client.shown().slice(); // the module's memory may move
    ++this.frames;
    this.stage.draw(this.entities);
    if (now_ms - this.last_ms < 250) return;
    this.last_ms = now_ms;
    this.showState(this.client.state());
    this.showServer();
    this.showEntities();
  }

  private showState(state: LiveState | null): void {
    this.current = state;
    document.body.dataset.live = state?.status ?? 'off';
    element('connect').textContent = this.client ? 'Stop' : 'Watch';
    element('connection').textContent = state ? state.status : 'not connected';
    if (!state) return;
    if (state.status === 'refused' || state.status === 'disconnected') {
      // A WebSocket that the server closes does not say why.
      const why = state.status === 'disconnected' && !state.has_joined
        ? 'The server did not admit this page: a token may be missing, used or expired, or the origin of this page is not allowed.'
        : state.refusal || 'The connection has ended.';
      this.client?.leave();
      this.client = null;
      element('connect').textContent = 'Watch';
      this.fail(why);
    }
    this.list('client', [
      ['Round trip', milliseconds(state.round_trip_s)], ['Delay of the view', milliseconds(state.delay_s)],
      ['Server time', state.server_time_s === null ? '–' : `${state.server_time_s.toFixed(1)} s`],
      ['Received', `${(state.bytes_received / 1e6).toFixed(2)} MB`], ['Motions', String(state.updates_applied)],
      ['Datagrams', `${state.datagrams_received}, ${state.datagrams_lost} lost`], ['Refused', String(state.malformed)],
    ]);
  }

  private list(id: string, entries: [string, string][]): void {
    element(id).replaceChildren(...entries.map(([name, value]) => make('div', {}, make('dt', { textContent: name }), make('dd', { textContent: value }))));
  }

  private showServer(): void {
    const status = this.client?.server();
    if (!status || !Array.isArray(status.links)) return;
    this.list('server', [
      ['Clients', `${status.clients} (${status.watchers} watching)`], ['Entities', String(status.entities)],
      ['Tick rate', `${status.tick_rate} Hz`], ['Sent', kilobytes(status.sent_bytes_per_second)],
      ['Budget', kilobytes(status.budget_bytes_per_second)], ['Motions published', String(status.publishes)],
      ['Updates, repairs', `${status.updates_sent}, ${status.repairs_sent}`], ['Refused', String(status.refused)],
    ]);
    this.table('links', ['Client', 'Round trip', 'Jitter', 'Loss', 'Sent', 'Budget', 'Waiting', 'Age at sending'], status.links.map((link) => [
      String(link.client), milliseconds(link.rtt_s), milliseconds(link.jitter_s), `${(link.loss * 100).toFixed(1)} %`,
      kilobytes(link.sent), kilobytes(link.budget), String(link.queued), milliseconds(link.age_s)]));
    if (status.traffic) this.showTraffic(status.traffic, status.ticks, status.tick_rate);
  }

  /** What costs bandwidth: the kinds of content, and the archetypes, fields and entities that cost most. */
  private showTraffic(traffic: Traffic, ticks: number, tickRate: number): void {
    const sum = (bytes: number[]) => bytes.reduce((a, b) => a + b, 0);
    const parts: [string, string, number][] = [
      ...Object.entries(traffic.contents).map(([name, bytes]): [string, string, number] => ['Content', name.replaceAll('_', ' '), bytes]),
      ...traffic.archetypes.map(({ name, bytes }): [string, string, number] => ['Archetype', name, sum(bytes)]),
      ...traffic.fields.map(({ archetype, name, bytes }): [string, string, number] => ['Field', `${archetype}.${name}`, bytes]),
      ...traffic.entities.map(({ id, archetype, bytes }): [string, string, number] =>
        ['Entity', `${this.client?.name(id) || archetype} (${id})`, bytes])];
    const now = new Map(parts.map(([kind, name, bytes]) => [`${kind} ${name}`, bytes]));
    const before = this.traffic;
    if (before === null || ticks < before.ticks) {
      this.traffic = { ticks, bytes: now, rates: new Map() };
    } else if (ticks > before.ticks) {
      const elapsed_s = (ticks - before.ticks) / tickRate;
      const rates = new Map([...now].filter(([key]) => before.bytes.has(key))
        .map(([key, bytes]) => [key, (bytes - before.bytes.get(key)!) / elapsed_s]));
      this.traffic = { ticks, bytes: now, rates };
    }
    const all = sum(Object.values(traffic.contents));
    this.table('traffic', ['', 'Part', 'Now', 'In total', 'Share'], parts.map(([kind, name, bytes]) => {
      const rate = this.traffic!.rates.get(`${kind} ${name}`);
      return [kind, name, rate === undefined ? '–' : `${(rate / 1000).toFixed(2)} kB/s`, `${(bytes / 1000).toFixed(1)} kB`,
        all > 0 ? `${((bytes / all) * 100).toFixed(1)} %` : '–'];
    }));
  }

  private table(id: string, head: string[], rows: string[][]): void {
    const table = element<HTMLTableElement>(id);
    table.tHead!.replaceChildren(make('tr', {}, ...head.map((text) => make('th', { textContent: text, scope: 'col' }))));
    table.tBodies[0]!.replaceChildren(...rows.map((row) => make('tr', {}, ...row.map((text) => make('td', { textContent: text })))));
  }

  private showEntities(): void {
    const { entities, client } = this;
    if (!client) return;
    const rows: string[][] = [];
    const ids: [string, string][] = [['0', 'everything']];
    for (let e = 0; e < entities.length; e += entityNumbers) {
      const name = client.name(entities[e]!);
      ids.push([String(entities[e]), name]);
      if (rows.length >= mostRows) continue;
      rows.push([
        name, [1, 2, 3].map((k) => entities[e + k]!.toFixed(2)).join(', '), milliseconds(entities[e + 17]!),
        `${short(entities[e + 18]!)} m`, `${short(entities[e + 19]!)} rad`, milliseconds(entities[e + 20]!),
        entities[e + 21] === 1 ? 'fading' : '']);
    }
    this.table('entities', ['Entity', 'Shown position, m', 'Age of the motion', 'Blend', 'Turn', 'Blend ends in', ''], rows);
    const listed = ids.map(([id]) => id).join();
    if (listed === this.listed) return;
    this.listed = listed;
    const select = element<HTMLSelectElement>('followed');
    options(select, ids, select.value);
    if (select.value === '') select.value = '0';
    this.stage!.followed = Number(select.value);
  }

  /** For the tests: what the page shows, in numbers. */
  get state() {
    return { client: this.current, server: this.client?.server() ?? null, entities: [...this.entities], frames: this.frames };
  }
}

const page = new LivePage();
(window as unknown as { live: LivePage }).live = page;
page.start().catch((error: Error) => {
  const box = element('error');
  box.hidden = false;
  box.textContent = `The live view cannot start: ${error.message}`;
});
