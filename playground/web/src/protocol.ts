// SPDX-License-Identifier: MIT
// What the page and its worker say to each other.
import type { Catalog, SessionResult, Shape } from './module.ts';

export type Request =
  | { id: number; kind: 'catalog' }
  | { id: number; kind: 'open'; name: string; text: string }
  | { id: number; kind: 'run'; settings: string }
  | { id: number; kind: 'session'; name: string; recording: Uint8Array; decisions: { name: string; text: string } | null; worst: number }
  | { id: number; kind: 'figures'; settings: string }
  | { id: number; kind: 'command' | 'cpp'; settings: string };

export interface RunResult {
  figures: string; // the text that reckoner-harness compare writes
  shape: Shape;
  truth: Float32Array<ArrayBuffer>;
  tracks: Float32Array<ArrayBuffer>[];
  packets: Float32Array<ArrayBuffer>[];
  parts: Float32Array<ArrayBuffer>[];
  took_ms: number;
}

export interface Answers {
  catalog: Catalog;
  open: { seconds: number; entities: string[] };
  run: RunResult;
  session: SessionResult;
  figures: string;
  command: string;
  cpp: string;
}

export type Answer = { id: number; value: unknown } | { id: number; error: string };
