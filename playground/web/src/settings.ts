// SPDX-License-Identifier: MIT
// The settings of a run, in the page's address and as the JSON text that the module reads.
import type { Catalog, LinkValues } from './module.ts';

export type LinkOption = keyof LinkValues;
export const linkOptions: LinkOption[] = ['latency-ms', 'jitter-ms', 'loss', 'burst', 'duplicate', 'rate-kbps', 'queue-ms'];

export interface Settings {
  scenario: string; // empty: the recording is used
  trace: string;
  entity: string;
  entities: number; // 0: the scenario's default
  start: number;
  seconds: number;
  network: string; // empty: a perfect network
  up: Partial<LinkValues>; // what differs from the network
  down: Partial<LinkValues>;
  budget: 'updates' | 'threshold';
  updates: number;
  threshold: number;
  mode: 'present' | 'adaptive' | 'delayed';
  delay: number;
  /** The curve of blends. */
  curve: 'cubic' | 'damped';
  blend: number;
  seed: number;
  /** Methods that are computed besides the two that are shown. */
  methods: string[];
}

export const defaults: Settings = {
  scenario: 'crowd',
  trace: '',
  entity: 'busiest',
  entities: 6,
  start: 0,
  seconds: 30,
  network: 'intercity',
  up: {},
  down: {},
  budget: 'updates',
  updates: 10,
  threshold: 0.05,
  mode: 'present',
  delay: 200,
  curve: 'damped',
  blend: 8,
  seed: 1,
  methods: [],
};

export function copyOf(settings: Settings): Settings {
  return { ...settings, up: { ...settings.up }, down: { ...settings.down }, methods: [...settings.methods] };
}

/** Every setting that differs from its default, as the part of an address after '#'. */
export function toAddress(settings: Settings): string {
  const out = new URLSearchParams();
  for (const key of Object.keys(defaults) as (keyof Settings)[]) {
    const value = settings[key];
    if (key === 'up' || key === 'down') {
      for (const [name, number] of Object.entries(value as Partial<LinkValues>)) out.set(`${key}-${name}`, String(number));
    } else if (key === 'methods') {
      if (settings.methods.length > 0) out.set(key, settings.methods.join(','));
    } else if (value !== defaults[key]) {
      out.set(key, String(value));
    }
  }
  return out.toString();
}

/** Settings from an address. Unknown names and impossible values are ignored. */
export function fromAddress(address: string, catalog: Catalog): Settings {
  const settings = copyOf(defaults);
  const parts = new URLSearchParams(address.replace(/^#/, ''));
  const choose = (key: 'scenario' | 'network' | 'budget' | 'mode' | 'curve', allowed: string[]) => {
    const value = parts.get(key);
    if (value !== null && allowed.includes(value)) (settings as unknown as Record<string, string>)[key] = value;
  };
  choose('scenario', ['', ...catalog.scenarios.map((s) => s.name)]);
  choose('network', ['', ...catalog.networks.map((n) => n.name)]);
  choose('budget', ['updates', 'threshold']);
  choose('mode', ['present', 'adaptive', 'delayed']);
  choose('curve', ['cubic', 'damped']);
  settings.trace = parts.get('trace') ?? '';
  settings.entity = parts.get('entity') ?? defaults.entity;
  for (const key of ['entities', 'start', 'seconds', 'updates', 'threshold', 'delay', 'blend', 'seed'] as const) {
    const value = Number(parts.get(key) ?? NaN);
    if (Number.isFinite(value)) settings[key] = value;
  }
  for (const side of ['up', 'down'] as const) {
    for (const option of linkOptions) {
      const value = Number(parts.get(`${side}-${option}`) ?? NaN);
      if (Number.isFinite(value)) settings[side][option] = value;
    }
  }
  settings.methods = (parts.get('methods') ?? '').split(',').filter((name) => catalog.methods.includes(name));
  return settings;
}

/** The link of one direction after all changes. */
export function linkOf(settings: Settings, side: 'up' | 'down', catalog: Catalog): LinkValues {
  const base = catalog.networks.find((n) => n.name === settings.network)?.link ?? catalog.perfect;
  return { ...base, ...settings[side] };
}

/** The JSON text that the module reads, for these methods. */
export function toModule(settings: Settings, methods: string[] = settings.methods): string {
  const changes = [];
  for (const option of linkOptions) {
    const { [option]: up } = settings.up;
    const { [option]: down } = settings.down;
    if (up !== undefined && up === down) changes.push({ option, value: up, side: 'both' });
    else {
      if (up !== undefined) changes.push({ option, value: up, side: 'up' });
      if (down !== undefined) changes.push({ option, value: down, side: 'down' });
    }
  }
  const fromTrace = settings.scenario === '';
  return JSON.stringify({
    scenario: settings.scenario,
    trace: fromTrace ? settings.trace : '',
    ...(fromTrace ? { entity: settings.entity } : { entities: settings.entities }),
    start: settings.start,
    seconds: settings.seconds,
    network: settings.network,
    changes,
    ...(settings.budget === 'updates' ? { updates_per_second: settings.updates } : { threshold_m: settings.threshold }),
    mode: settings.mode === 'delayed' ? `delayed:${settings.delay}` : settings.mode,
    blend_curve: settings.curve,
    blend_frames: settings.blend,
    seed: settings.seed,
    ...(methods.length > 0 ? { methods } : {}),
  });
}
