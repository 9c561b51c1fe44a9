// SPDX-License-Identifier: MIT
// What the page shows of a run, as a part of the address, so that a link leads to the same picture.
import type { Catalog } from './module.ts';
import { ours } from './methods.ts';

export const tabNames = ['replay', 'map', 'blind', 'explain'] as const;

export interface View {
  tab: string;
  /** Time since the start of the run, s. NaN: the page chooses a moment with a turn. */
  at: number;
  /** The method of the left pane. */
  left: string;
  /** The entity that the camera follows, by its number. */
  follow: number;
  /** The camera shows the whole motion. */
  free: boolean;
  flat: boolean;
  trails: boolean;
  turn: number;
  tilt: number;
  zoom: number;
}

export const defaultView: View = {
  tab: 'replay', at: NaN, left: 'snap', follow: 0, free: false, flat: false, trails: true, turn: -0.9, tilt: 0.65, zoom: 1,
};

/** The parts that differ from their defaults, as a part of an address. */
export function viewToAddress(view: View): string {
  const out = new URLSearchParams();
  for (const key of Object.keys(defaultView) as (keyof View)[]) {
    const value = view[key];
    if (Object.is(value, defaultView[key])) continue;
    if (typeof value === 'boolean') out.set(key, value ? '1' : '0');
    else if (typeof value === 'number') {
      if (Number.isFinite(value)) out.set(key, String(Number(value.toFixed(3))));
    } else out.set(key, value);
  }
  return out.toString();
}

/** Reads an address. Unknown names and impossible values are ignored. */
export function viewFromAddress(address: string, catalog: Catalog): View {
  const view = { ...defaultView };
  const parts = new URLSearchParams(address.replace(/^#/, ''));
  const tab = parts.get('tab');
  if (tab && (tabNames as readonly string[]).includes(tab)) view.tab = tab;
  const left = parts.get('left');
  if (left && left !== ours && catalog.methods.includes(left)) view.left = left;
  for (const key of ['at', 'follow', 'turn', 'tilt', 'zoom'] as const) {
    const value = Number(parts.get(key) ?? NaN);
    if (Number.isFinite(value)) view[key] = value;
  }
  view.follow = Math.max(0, Math.floor(view.follow));
  for (const key of ['free', 'flat', 'trails'] as const) {
    const value = parts.get(key);
    if (value === '1' || value === '0') view[key] = value === '1';
  }
  return view;
}
