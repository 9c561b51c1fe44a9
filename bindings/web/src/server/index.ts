// SPDX-License-Identifier: MIT
export { createServer, Server } from './server.js';
export type {
  Authenticate, ClientId, Identity, ListenOptions, OwnershipRules, PlayerInput, Recipients, ServerEvents, ServerOptions, ShortLivedOptions,
  SpawnOptions, Stream, StreamEvents,
} from './server.js';
export type { Delivery, OwnerGone, OwnerPolicy, Relevance, ResultCode, ServerStats, SessionStats, VelocitySource } from '../generated.js';
export { type ModuleSource, ReckonerError } from '../native.js';
export { Message } from '../values.js';
export type { ArchetypeOptions, EntityId, FieldOptions, FieldValue, Payload, SendOptions, State, Vector } from '../values.js';
